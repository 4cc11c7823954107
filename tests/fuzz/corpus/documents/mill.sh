turn() {
  cat <<'E'
it's }
E
}
