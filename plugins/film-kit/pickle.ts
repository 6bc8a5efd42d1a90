/**
 * Reads Python's pickles as plain data. Python would create objects of the classes that a pickle names and call its
 * functions; this reader only stores their names and states. We know of no library that does the same and limits the
 * resources of a pickle.
 */

const MOST_STEPS = 20_000_000

/** An object as stored in a pickle, of a class that is never instantiated. */
export class Pickled {
  /** `module.name` of the class. */
  readonly kind: string
  readonly state = new Map<unknown, unknown>()

  constructor(kind: string) {
    this.kind = kind
  }
}

/** The position of the last `(` on the stack. */
type Mark = number

/** @throws SyntaxError: not a complete pickle @returns the value, and where the pickle ends */
export function pickleAt(bytes: Buffer, from = 0): { value: unknown; end: number } {
  const stack: unknown[] = []
  const marks: Mark[] = []
  const memo = new Map<number, unknown>()
  let at = from

  const take = (length: number): Buffer => {
    if (length < 0 || at + length > bytes.length) throw new SyntaxError('it ends too early')
    at += length
    return bytes.subarray(at - length, at)
  }
  const u1 = () => take(1).readUInt8()
  const u2 = () => take(2).readUInt16LE()
  const u4 = () => take(4).readUInt32LE()
  const u8 = () => Number(take(8).readBigUInt64LE())
  const text = (length: number) => take(length).toString('utf8')
  const line = (): string => {
    const end = bytes.indexOf(0x0a, at)
    if (end < 0) throw new SyntaxError('a line of it has no end')
    const found = bytes.toString('utf8', at, end)
    at = end + 1
    return found
  }
  const long = (length: number): number => {
    const digits = take(length)
    return length > 0 && length <= 6 ? digits.readIntLE(0, length) : length === 0 ? 0 : Number(wide(digits))
  }
  const pop = (): unknown => {
    if (stack.length <= (marks.at(-1) ?? 0)) throw new SyntaxError('a value of it is missing')
    return stack.pop()
  }
  const top = (): unknown => stack.at(-1)
  const popMarked = (): unknown[] => {
    const mark = marks.pop()
    if (mark === undefined) throw new SyntaxError('a beginning of it is missing')
    return stack.splice(mark)
  }
  const put = (target: unknown, pairs: readonly unknown[]): void => {
    const into = target instanceof Pickled ? target.state : target
    if (into instanceof Map) for (let one = 0; one + 1 < pairs.length; one += 2) into.set(pairs[one], pairs[one + 1])
  }
  const add = (target: unknown, values: readonly unknown[]): void => {
    if (Array.isArray(target)) for (const value of values) target.push(value)
  }
  const named = (module: unknown, name: unknown) => new Pickled(`${String(module)}.${String(name)}`)
  /** A new object of this class, without a state yet. */
  const objectOf = (kind: unknown) => new Pickled(kind instanceof Pickled ? kind.kind : '')
  const build = (): void => {
    const given = pop()
    // With slots, the state is a pair of both kinds of attributes.
    for (const state of Array.isArray(given) ? given : [given]) if (state instanceof Map) put(top(), [...state].flat())
  }

  const steps: Record<string, () => void> = {
    '(': () => void marks.push(stack.length),
    '0': () => void pop(),
    '1': () => void popMarked(),
    '2': () => void stack.push(top()),
    N: () => void stack.push(null),
    '\x88': () => void stack.push(true),
    '\x89': () => void stack.push(false),
    I: () => void stack.push(integerIn(line())),
    L: () => void stack.push(Number.parseInt(line(), 10)),
    F: () => void stack.push(Number(line())),
    J: () => void stack.push(take(4).readInt32LE()),
    K: () => void stack.push(u1()),
    M: () => void stack.push(u2()),
    G: () => void stack.push(take(8).readDoubleBE()),
    '\x8a': () => void stack.push(long(u1())),
    '\x8b': () => void stack.push(long(u4())),
    S: () => void stack.push(line().slice(1, -1)),
    V: () => void stack.push(line()),
    U: () => void stack.push(text(u1())),
    T: () => void stack.push(text(u4())),
    X: () => void stack.push(text(u4())),
    '\x8c': () => void stack.push(text(u1())),
    '\x8d': () => void stack.push(text(u8())),
    C: () => void stack.push(take(u1())),
    B: () => void stack.push(take(u4())),
    '\x8e': () => void stack.push(take(u8())),
    '\x96': () => void stack.push(take(u8())),
    ')': () => void stack.push([]),
    ']': () => void stack.push([]),
    '\x8f': () => void stack.push([]),
    '}': () => void stack.push(new Map()),
    t: () => void stack.push(popMarked()),
    l: () => void stack.push(popMarked()),
    '\x91': () => void stack.push(popMarked()),
    '\x85': () => void stack.push([pop()]),
    '\x86': () => void stack.push([pop(), pop()].reverse()),
    '\x87': () => void stack.push([pop(), pop(), pop()].reverse()),
    d: () => {
      const pairs = popMarked()
      stack.push(new Map())
      put(top(), pairs)
    },
    a: () => {
      const value = pop()
      add(top(), [value])
    },
    e: () => {
      const values = popMarked()
      add(top(), values)
    },
    '\x90': () => {
      const values = popMarked()
      add(top(), values)
    },
    s: () => {
      const [value, key] = [pop(), pop()]
      put(top(), [key, value])
    },
    u: () => {
      const pairs = popMarked()
      put(top(), pairs)
    },
    c: () => void stack.push(named(line(), line())),
    '\x93': () => {
      const [name, module] = [pop(), pop()]
      stack.push(named(module, name))
    },
    i: () => {
      const kind = named(line(), line())
      popMarked()
      stack.push(kind)
    },
    o: () => void stack.push(objectOf(popMarked()[0])),
    R: () => {
      pop()
      stack.push(objectOf(pop()))
    },
    '\x81': () => {
      pop()
      stack.push(objectOf(pop()))
    },
    '\x92': () => {
      pop()
      pop()
      stack.push(objectOf(pop()))
    },
    b: build,
    p: () => void memo.set(Number(line()), top()),
    q: () => void memo.set(u1(), top()),
    r: () => void memo.set(u4(), top()),
    '\x94': () => void memo.set(memo.size, top()),
    g: () => void stack.push(memo.get(Number(line()))),
    h: () => void stack.push(memo.get(u1())),
    j: () => void stack.push(memo.get(u4())),
    P: () => void stack.push(named('', line())),
    Q: () => void stack.push(named('', pop())),
    '\x82': () => void stack.push(named('', u1())),
    '\x83': () => void stack.push(named('', u2())),
    '\x84': () => void stack.push(named('', u4())),
    '\x80': () => void u1(),
    '\x95': () => void u8(),
    '\x97': () => void stack.push(null),
    '\x98': () => undefined,
  }
  for (let step = 0; step < MOST_STEPS; step++) {
    const code = String.fromCharCode(u1())
    if (code === '.') return { value: pop(), end: at }
    const work = Object.hasOwn(steps, code) ? steps[code] : undefined
    if (!work) throw new SyntaxError('it has an unknown instruction')
    work()
  }
  throw new SyntaxError('it is too long')
}

const integerIn = (text: string): number | boolean =>
  text === '01' ? true : text === '00' ? false : Number.parseInt(text, 10)

/** A whole number in two's complement, least significant byte first. */
const wide = (digits: Buffer): bigint => {
  const hex = Buffer.from(digits).reverse().toString('hex')
  return BigInt.asIntN(digits.length * 8, BigInt(`0x${hex}`))
}

export const isPickled = (value: unknown): value is Pickled => value instanceof Pickled

/** The attributes of an object, or the texts and values of a map. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  const map = value instanceof Pickled ? value.state : value
  if (!(map instanceof Map)) return {}
  return Object.fromEntries([...map].filter(([key]) => typeof key === 'string')) as Record<string, unknown>
}
