/** All feeds of an account as OPML, which podcast apps import. */
import { type Xml, xml, xmlDocument } from 'archivolt'
import { oneLine } from './texts.ts'

interface Listed {
  title: string
  url: string
  page: string
}

export const opmlOf = (feeds: readonly Listed[]): string =>
  xmlDocument(xml`<opml version="2.0"><head><title>Archivolt</title></head><body>${feeds.map(outlineOf)}</body></opml>`)

function outlineOf({ title, url, page }: Listed): Xml {
  const text = oneLine(title)
  return xml`<outline type="rss" text="${text}" title="${text}" xmlUrl="${url}" htmlUrl="${page}"/>`
}
