// A player script with known answers (challenge.ts), in the structure that yt-dlp's solver scripts expect: a single
// call of a function that contains a URL with `get` and `set`, the method that converts its `n` to the answer, and the
// function that takes a signature.
var _yt_player = {};
(function (g) {
  var noted = g; // the solver drops the first statement
  function Address(text) {
    this.text = text;
    this.fields = {};
  }
  Address.prototype.get = function (name) {
    return name in this.fields ? this.fields[name] : null;
  };
  Address.prototype.set = function (name, value) {
    this.fields[name] = value;
  };
  Address.prototype.answer = function () {
    if (this.fields.n) this.fields.n = turned(this.fields.n, 3) + '-' + this.fields.n.length;
  };
  function turned(text, by) {
    var signs = text.split('').reverse();
    return signs.slice(by).concat(signs.slice(0, by)).join('');
  }
  function signed(text) {
    var signs = text.split('');
    var first = signs[0];
    signs[0] = signs[signs.length - 1];
    signs[signs.length - 1] = first;
    return signs.slice(2).join('');
  }
  g.addressOf = function (text, name, signature) {
    var address = new Address(text);
    address.set('alr', 'yes');
    if (signature) address.set(name, encodeURIComponent(signed(decodeURIComponent(signature))));
    return address;
  };
  g.config = { signatureTimestamp: 20751 };
})(_yt_player);
