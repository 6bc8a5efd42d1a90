/** All feeds of an account as OPML, which readers of feeds import. */
import { oneLine, xmlOf } from './xml.ts'

interface Listed {
  title: string
  url: string
  page: string
}

export function opmlOf(feeds: readonly Listed[]): string {
  const outline = feeds.map(({ title, url, page }) => {
    const text = oneLine(title)
    return { '@type': 'rss', '@text': text, '@title': text, '@xmlUrl': url, '@htmlUrl': page }
  })
  const body = outline.length > 0 ? { outline } : ''
  const opml = xmlOf({ opml: { '@version': '2.0', head: { title: 'Archivolt' }, body } })
  return `<?xml version="1.0" encoding="UTF-8"?>\n${opml}\n`
}
