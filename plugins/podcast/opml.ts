/** All feeds of an account as OPML, which podcast apps import. */
import { type XmlElement, xmlDocument } from 'archivolt'
import { oneLine } from './texts.ts'

interface Listed {
  title: string
  url: string
  page: string
}

export const opmlOf = (feeds: readonly Listed[]): string =>
  xmlDocument([
    'opml',
    [
      ['head', [['title', 'Archivolt']]],
      ['body', feeds.map(outlineOf)],
    ],
    { version: '2.0' },
  ])

function outlineOf({ title, url, page }: Listed): XmlElement {
  const text = oneLine(title)
  return ['outline', '', { type: 'rss', text, title: text, xmlUrl: url, htmlUrl: page }]
}
