/** XML of texts that strangers have written: what XML cannot hold is left out. */
import XMLBuilder from 'fast-xml-builder'

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
})

/** Attributes begin with `@`; a list stands for elements of one name. */
export const xmlOf = (tree: object): string => builder.build(tree)

/** Control characters, halves of pairs, and what is no character. */
const NOT_IN_XML = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

export const plain = (text: string): string => text.replace(NOT_IN_XML, '')
export const oneLine = (text: string): string => plain(text).replace(/\s+/g, ' ').trim()

/** Its beginning, in whole characters. */
export function cut(text: string, mostBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= mostBytes) return text
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytes - 3), { stream: true })}…`
}
