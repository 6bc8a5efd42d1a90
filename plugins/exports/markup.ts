/** Parses OPML and HTML, which may be invalid, and limits depth and length, because the file is not trusted. */
import sax from 'sax'
import { Unusable } from './found.ts'

/** Maximum depth, more than any list has, because a closing tag is searched among all open ones. */
const MOST_DEPTH = 1000
const PIECE = 1 << 15

interface Handlers {
  open(name: string, attributes: Readonly<Record<string, unknown>>): void
  close?(name: string): void
  text?(words: string): void
  /** Called at the end of the text, before open elements are closed. */
  end?(): void
}

/** Names of elements and attributes are in lower case. Errors in the markup are ignored. @throws Unusable */
export function parseMarkup(text: string, { open, close, text: read, end }: Handlers): void {
  const parser = sax.parser(false, { lowercase: true })
  let depth = 0
  parser.onerror = ({ message }) => {
    if (message.startsWith('Max buffer')) throw new Unusable('One of its texts is too long for a list')
    parser.resume()
  }
  parser.onopentag = ({ name, attributes }) => {
    if (++depth > MOST_DEPTH) throw new Unusable('It is nested too deep')
    open(name, attributes)
  }
  parser.onclosetag = (name) => {
    depth--
    close?.(name)
  }
  if (read) parser.ontext = read
  // Parsed in pieces; after each one, checks that no text grows without limit.
  for (let at = 0; at < text.length; at += PIECE) parser.write(text.slice(at, at + PIECE))
  end?.()
  parser.close()
}
