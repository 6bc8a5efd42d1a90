/** Parses XML as strictly as its specification demands. */
import sax from 'sax'

export interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

/** @throws if it is not well-formed, or contains a character that XML does not allow */
export function readXml(text: string): Element {
  const bad = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u.exec(text)
  if (bad) throw new Error(`U+${bad[0].codePointAt(0)!.toString(16)} is no character of XML`)
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  const parser = sax.parser(true)
  parser.onerror = (error) => {
    throw error
  }
  parser.onopentag = ({ name, attributes }) => {
    const element: Element = { name, attributes: attributes as Record<string, string>, children: [], text: '' }
    open.at(-1)!.children.push(element)
    open.push(element)
  }
  parser.ontext = (piece) => {
    open.at(-1)!.text += piece
  }
  parser.onclosetag = () => void open.pop()
  parser.write(text).close()
  return top.children[0]!
}

export const all = ({ children }: Element, name: string): Element[] => children.filter((one) => one.name === name)

export function one(element: Element, name: string): Element {
  const [found] = all(element, name)
  if (!found) throw new Error(`<${element.name}> has no <${name}>`)
  return found
}
