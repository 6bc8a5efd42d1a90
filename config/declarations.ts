/** What plugins declare for one another in `declare module 'archivolt'`, each with the comment that says what it is. */

export interface Declaration {
  kind: 'Hooks' | 'Events' | 'Services'
  name: string
  /** As it is written, in one line. */
  type: string
  /** For a service without a comment of its own the first one of its file. */
  meaning: string
}

interface Member {
  comment: string | undefined
  name: string
  type: string
}

/** Reads them from a file as the formatter leaves it: what belongs together is told by how far it is indented. */
export function declarationsIn(text: string): Declaration[] {
  const interfaces = text.matchAll(/^( *)(?:export )?interface (Hooks|Events|Services) \{\n([\s\S]*?)^\1\}/gm)
  return [...interfaces].flatMap(([, indent = '', kind, body = '']) => {
    const members = membersOf(body, `${indent}  `)
    const isServices = kind === 'Services'
    const declared = isServices ? members.flatMap(({ type }) => membersOf(innerOf(type), `${indent}    `)) : members
    return declared.map(({ comment, name, type }) => ({
      kind: kind as Declaration['kind'],
      name,
      type: inOneLine(type.replace(/\/\*[\s\S]*?\*\//g, '')),
      meaning: plain(comment ?? (isServices ? headOf(text) : '')),
    }))
  })
}

function membersOf(body: string, indent: string): Member[] {
  const member = new RegExp(
    `(?:^${indent}/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n)?^${indent}'?([\\w.]+)'?\\??: ([\\s\\S]*?)\\n(?=${indent}[^\\s})]|$(?![\\s\\S]))`,
    'gm',
  )
  return [...body.matchAll(member)].map(([, comment, name, type]) => ({ comment, name: name!, type: type! }))
}

/** Of a type in several lines those between its braces. */
const innerOf = (type: string): string => `${type.split('\n').slice(1, -1).join('\n')}\n`
const headOf = (text: string): string => /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? ''
const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
const plain = (comment: string): string => {
  const text = inOneLine(comment.replace(/^\s*\* ?/gm, '')).replace(/^The service `\w+`: /, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
