/**
 * Moments: a button of the player stores the current position; a page lists the account's own, a command removes them.
 */
import { type AppOf, defineCommand, definePlugin, defineRoute, errors, listing, Type } from '@archivolt/plugin'

const MOST = 1000

type App = AppOf<'moments' | 'user' | 'video'>

interface Row {
  video_id: string
  second: number
}

const Moment = Type.Object({ video: Type.String(), title: Type.String(), second: Type.Integer() })
const Place = Type.Object({ second: Type.Integer({ minimum: 0, maximum: 1_000_000 }) })
const params = Type.Object({ videoId: Type.String({ maxLength: 128 }) })

const keep = defineRoute({
  method: 'POST',
  path: '/api/moments/:videoId/',
  access: 'user',
  summary: 'Keep a second of a video',
  params,
  body: Place,
  reply: Place,
  async handle({ params: { videoId }, body, actor }, { ledger, videos }: App) {
    if (!(await videos.has(videoId))) throw errors.notFound('video', videoId)
    await ledger.write(() => {
      const count = ledger.sql<{ count: number }>('SELECT count(*) count FROM moments_kept WHERE user_id = ?')
      if (count.get(actor.id)!.count >= MOST) throw errors.conflict(`Remove one first: ${MOST} moments are kept`)
      const insert = 'INSERT INTO moments_kept (user_id, video_id, second) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'
      ledger.sql(insert).run(actor.id, videoId, body.second)
    })
    return body
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/api/moments/',
  access: 'user',
  summary: 'Own moments, the newest first',
  envelope: 'page',
  reply: Moment,
  async handle({ page, actor }, { ledger, videos }: App) {
    const mine = 'FROM moments_kept WHERE user_id = ?'
    const { count } = ledger.sql<{ count: number }>(`SELECT count(*) count ${mine}`).get(actor.id)!
    const rows = ledger
      .sql<Row>(`SELECT video_id, second ${mine} ORDER BY rowid DESC LIMIT ? OFFSET ?`)
      .all(actor.id, page.size, page.from)
    const texts: string[] = []
    for (const { video_id: video, second } of rows)
      texts.push(JSON.stringify({ video, title: (await videos.get(video))?.title ?? video, second }))
    return listing(texts, count)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/moments/:videoId/',
  access: 'user',
  summary: 'Remove a moment',
  params,
  body: Place,
  reply: Type.Null(),
  async handle({ params: { videoId }, body, actor }, { ledger }: App) {
    const one = 'DELETE FROM moments_kept WHERE user_id = ? AND video_id = ? AND second = ?'
    await ledger.write(() => ledger.sql(one).run(actor.id, videoId, body.second))
    return undefined
  },
})

const forget = defineCommand({
  name: 'moments forget',
  summary: 'Remove all moments of an account (stop the server first)',
  takes: ['username'],
  options: { yes: { type: 'boolean', meaning: 'do it; without, it only tells how many there are' } },
  async run({ taken: [username], options, say }, { ledger, accounts }: App) {
    const account = accounts.list().find((one) => one.username === username)
    if (!account) throw errors.badRequest(`There is no account ${username}`)
    const mine = 'FROM moments_kept WHERE user_id = ?'
    const { count } = ledger.sql<{ count: number }>(`SELECT count(*) count ${mine}`).get(account.id)!
    if (options.yes !== true) return say(`${username} has kept ${count}; with --yes they are removed`)
    await ledger.write(() => ledger.sql(`DELETE ${mine}`).run(account.id))
    say(`${count} removed`)
  },
})

export default definePlugin({
  name: 'moments',
  api: 1,
  needs: ['user', 'video'],
  migrations: [
    {
      number: 1,
      sql: 'CREATE TABLE moments_kept (user_id INTEGER, video_id TEXT, second INTEGER, UNIQUE (user_id, video_id, second)) STRICT',
    },
  ],
  routes: [keep, list, remove],
  commands: [forget],
  playerButton: { title: 'Keep this moment', module: new URL('./button.ts', import.meta.url) },
  page: { title: 'Moments', module: new URL('./page.ts', import.meta.url) },
  on: {
    'video.removed': ({ ledger }) => ({ id }) =>
      ledger.write(() => void ledger.sql('DELETE FROM moments_kept WHERE video_id = ?').run(id)),
    'user.removed': ({ ledger }) => ({ id }) =>
      ledger.write(() => void ledger.sql('DELETE FROM moments_kept WHERE user_id = ?').run(id)),
  },
})
