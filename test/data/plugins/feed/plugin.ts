/** Feed: the newest videos for RSS readers, each with a link to its page: /api/feed/?token=… */
import { type AppOf, bytes, definePlugin, defineRoute, errors, Type } from '@archivolt/plugin'

const NEWEST = 50

/** The index limits an account to its view, so the feed of a child contains only the child's videos. */
const showFeed = defineRoute({
  method: 'GET',
  path: '/api/feed/',
  access: 'viewer',
  tokenInQuery: true,
  summary: 'The newest videos as RSS',
  reply: Type.String(),
  replyType: 'application/rss+xml',
  async handle({ request, actor }, { videos, publicUrl }: AppOf<'video'>) {
    const base = publicUrl(request)
    if (base === undefined) throw errors.badRequest('The address of this server is unknown: send the header Host, or set AV_PUBLIC_URL')
    const sort = [{ by: 'date_downloaded' as const, order: 'desc' as const }]
    const { texts } = await videos.find({ sort, size: NEWEST, withoutTotal: true }, actor)
    const items = texts.map((text) => toItem(JSON.parse(text) as Video, base))
    return bytes(
      `<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>Archivolt</title><link>${escaped(base)}</link><description>New videos</description>${items.join('')}</channel></rss>\n`,
      'application/rss+xml; charset=utf-8',
    )
  },
})

interface Video {
  platform_id: string
  title: string
  description: string
  date_downloaded: number
}

function toItem({ platform_id: id, title, description, date_downloaded: date }: Video, base: string): string {
  const link = `${base}video/${encodeURIComponent(id)}/`
  const day = new Date(date * 1000).toUTCString()
  return `<item><title>${escaped(title)}</title><link>${escaped(link)}</link><guid isPermaLink="false">${escaped(id)}</guid><pubDate>${day}</pubDate><description>${escaped(description)}</description></item>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Uploaders choose the texts; XML allows no control characters. */
const escaped = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '').replace(/[&<>"]/g, (sign) => ENTITIES[sign]!)

export default definePlugin({ name: 'feed', api: 1, needs: ['video'], routes: [showFeed] })
