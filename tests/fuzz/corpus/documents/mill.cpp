#define A \
  {
template <class T> class EXPORT Mill : public B {
  Mill() : a{1} { f('{'); }
  bool operator()(T) const;
};
