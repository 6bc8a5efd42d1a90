/** Reads texts from a Redis dump (`dump.rdb`), which has a documented format. Other values are not needed. */
import { NoCatalog } from './types.ts'

/** Stops at a value of an unknown kind, because its length is unknown. */
export function* textsInRedisDump(bytes: Buffer): Generator<{ key: string; text: string }> {
  if (bytes.toString('latin1', 0, 5) !== 'REDIS') throw new NoCatalog('This is not a Redis dump')
  const from = new Bytes(bytes, 9)
  for (;;) {
    const kind = from.byte()
    if (kind === 0xff || kind === undefined) return
    if (kind === 0xfa) from.skipTexts(2)
    else if (kind === 0xfe) from.length()
    else if (kind === 0xfb) {
      from.length()
      from.length()
    } else if (kind === 0xfd) from.skip(4)
    else if (kind === 0xfc) from.skip(8)
    else if (kind === 0xf8) from.length()
    else if (kind === 0xf9) from.skip(1)
    else if (kind === 0) yield { key: from.text(), text: from.text() }
    else return
  }
}

const cut = (): never => {
  throw new NoCatalog('The Redis dump is truncated')
}

class Bytes {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  byte(): number | undefined {
    return this.#bytes[this.#at++]
  }

  skip(count: number): void {
    this.#at += count
  }

  #take(count: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + count)
    if (taken.length < count) cut()
    this.#at += count
    return taken
  }

  /** @returns a length; negative: the compression of a text, as -1 minus its code */
  length(): number {
    const first = this.#take(1)[0]!
    const [form, low] = [first >> 6, first & 0x3f]
    if (form === 0) return low
    if (form === 1) return low * 256 + this.#take(1)[0]!
    if (form === 3) return -1 - low
    return first === 0x81 ? Number(this.#take(8).readBigUInt64BE()) : this.#take(4).readUInt32BE()
  }

  text(): string {
    const length = this.length()
    if (length < -4) cut()
    if (length >= 0) return this.#take(length).toString('utf8')
    if (length === -1) return String(this.#take(1).readInt8())
    if (length === -2) return String(this.#take(2).readInt16LE())
    if (length === -3) return String(this.#take(4).readInt32LE())
    const [packed, unpacked] = [this.length(), this.length()]
    // The length is a compressed text: reading it would recurse forever.
    if (packed < 0 || unpacked < 0) cut()
    return unpack(this.#take(packed), unpacked).toString('utf8')
  }

  skipTexts(count: number): void {
    for (let left = count; left > 0; left--) this.text()
  }
}

const MOST_TEXT_BYTES = 1 << 20

/** Decompresses LZF: runs of bytes, and references to earlier output. */
function unpack(packed: Buffer, size: number): Buffer {
  if (size > MOST_TEXT_BYTES) throw new NoCatalog('A text in the Redis dump is too long')
  const out = Buffer.alloc(size)
  let [from, to] = [0, 0]
  while (from < packed.length) {
    const head = packed[from++]!
    if (head < 32) {
      to += packed.copy(out, to, from, from + head + 1)
      from += head + 1
      continue
    }
    const length = head >> 5 === 7 ? 7 + packed[from++]! : head >> 5
    let back = to - ((head & 0x1f) << 8) - packed[from++]! - 1
    if (!(back >= 0)) cut()
    for (let left = length + 2; left > 0 && to < size; left--) out[to++] = out[back++]!
  }
  return out
}
