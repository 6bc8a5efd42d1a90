/** Measures a JSON text before parsing, which can take many times its bytes; deep nesting overflows the stack. */

export interface JsonLimits {
  /** Most values; empty ones of two bytes cost most. */
  values: number
  depth?: number
  /** Most keys in one object. */
  keys?: number
}

const [TEXT, ESCAPE, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** @returns the exceeded limit; undefined: none. Does not check whether the text is JSON */
export function overloadOf(json: string | Uint8Array, limits: JsonLimits): keyof JsonLimits | undefined {
  const { values, depth: deepest = Infinity, keys = Infinity } = limits
  const codeAt = typeof json === 'string' ? (at: number) => json.charCodeAt(at) : (at: number) => json[at]!
  const keysAt: number[] = [0]
  let depth = 0
  let count = 0
  let isInText = false
  for (let at = 0; at < json.length; at++) {
    const code = codeAt(at)
    if (isInText) {
      if (code === ESCAPE) at++
      else if (code === TEXT) isInText = false
      continue
    }
    switch (code) {
      case TEXT:
        isInText = true
        break
      case COLON:
        keysAt[depth] = (keysAt[depth] ?? 0) + 1
        if (keysAt[depth]! > keys) return 'keys'
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (++depth > deepest) return 'depth'
        if (keys < Infinity) keysAt[depth] = 0
        if (++count > values) return 'values'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (depth > 0) depth--
        break
      case COMMA:
        if (++count > values) return 'values'
    }
  }
  return undefined
}
