const turn = async (a) => {
  return /[/{]/ + `x${`{`}}`
}
(function () { function b() {} })();
