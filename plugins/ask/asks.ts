/** Asks in the ledger, and the effect of their answers: the account's view shows more. */
import {
  type Actor,
  beyondView,
  epochSeconds,
  errors,
  isHiding,
  kindIn,
  MOST_CHOSEN,
  type Static,
  say,
  Type,
  type View,
} from 'archivolt'
import type { App } from './app.ts'

export const askTables = {
  number: 1,
  sql: `
-- Times in epoch seconds. answer: null: nobody has answered.
CREATE TABLE ask_video (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  title TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  answer TEXT CHECK (answer IN ('video', 'channel', 'no')),
  UNIQUE (user_id, video_id)
) STRICT;
-- The playlist with the single videos that an account was allowed.
CREATE TABLE ask_playlist (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  playlist_id TEXT NOT NULL
) STRICT;
`,
}

export const ANSWERS = ['video', 'channel', 'no'] as const
export type Answer = (typeof ANSWERS)[number]
/** Of an account; the oldest answered ones are dropped. */
const MOST_KEPT = 200
const MOST_WAITING = 20
const MOST_OFFERED = 8
const MOST_FOUND = 30
const TOLD_SECONDS = 24 * 3600

/** A video outside of the view, without its picture, which nobody has chosen for this account. */
export const Offer = Type.Object({
  video_id: Type.String(),
  title: Type.String(),
  channel_name: Type.String(),
  state: Type.Enum(['open', 'waiting', 'allowed', 'refused'], { description: 'open: not asked for yet' }),
})
export type Offer = Static<typeof Offer>

export interface Ask {
  id: number
  user_id: number
  video_id: string
  title: string
  channel_id: string
  channel_name: string
  asked_at: number
  answer: Answer | null
}

/** The parts of a video's record that an ask stores. */
interface Wanted {
  platform_id: string
  title: string
  channel: { channel_id: string; channel_name: string }
}

export interface Asks {
  /** Videos with these words in their title that the account does not see; none unless admins permit asks. */
  offers(words: string, actor: Actor): Promise<Offer[]>
  /** Once for each video. @throws not_found: asks are off, or no such video; conflict: seen anyway; throttled */
  ask(videoId: string, actor: Actor): Promise<Offer>
  /** The account's asks, the newest first. */
  own(userId: number): Offer[]
  /** Without an answer, the oldest first. */
  waiting(): Ask[]
  /** @throws not_found; conflict: it was answered, or the view cannot show that alone */
  answer(id: number, answer: Answer, admin: Actor): Promise<void>
}

export function openAsks(app: Omit<App, 'asks'>): Asks {
  const { ledger, accounts, clock, videos, playlists } = app
  const selectWaiting = ledger.sql<Ask>('SELECT * FROM ask_video WHERE answer IS NULL ORDER BY id')
  const selectOwn = ledger.sql<Ask>('SELECT * FROM ask_video WHERE user_id = ? ORDER BY id DESC')
  const selectOne = ledger.sql<Ask>('SELECT * FROM ask_video WHERE id = ? AND answer IS NULL')
  const selectOf = ledger.sql<Ask>('SELECT * FROM ask_video WHERE user_id = ? AND video_id = ?')
  const countOf = ledger.sql<{ waiting: number }>(
    'SELECT count(*) AS waiting FROM ask_video WHERE user_id = ? AND answer IS NULL',
  )
  const countAlike = ledger.sql<{ waiting: number }>(
    'SELECT count(*) AS waiting FROM ask_video WHERE video_id = ? AND answer IS NULL',
  )
  const insert = ledger.sql(
    'INSERT INTO ask_video (user_id, video_id, title, channel_id, channel_name, asked_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const deleteOld = ledger.sql(
    'DELETE FROM ask_video WHERE id IN (SELECT id FROM ask_video WHERE user_id = ? AND answer IS NOT NULL ORDER BY id DESC LIMIT -1 OFFSET ?)',
  )
  const deleteOne = ledger.sql('DELETE FROM ask_video WHERE id = ?')
  const setAnswer = ledger.sql('UPDATE ask_video SET answer = ? WHERE id = ? AND answer IS NULL')
  const selectList = ledger.sql<{ playlist_id: string }>('SELECT playlist_id FROM ask_playlist WHERE user_id = ?')
  const upsertList = ledger.sql(
    'INSERT INTO ask_playlist (user_id, playlist_id) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET playlist_id = excluded.playlist_id',
  )

  const mayAsk = ({ view }: Actor) => view !== undefined && app.preferences.section('asks').in_search

  async function recordsOf(hits: Array<{ id: string; text: string }>, actor: Actor): Promise<Wanted[]> {
    return (await beyondView(() => videos.records(hits, actor))).map((text) => JSON.parse(text) as Wanted)
  }

  const offerOf = (wanted: Wanted, ask: Ask | undefined): Offer => ({
    video_id: wanted.platform_id,
    title: wanted.title,
    channel_name: wanted.channel.channel_name,
    // Allowed once, and hidden again since: it may be asked for anew.
    state: isSettled(ask) ? stateOf(ask) : 'open',
  })

  /** The playlist with the account's allowed videos, made if there is none. */
  async function listOf(userId: number, admin: Actor): Promise<string> {
    const known = selectList.get(userId)?.playlist_id
    if (known !== undefined && (await playlists.has(known))) return known
    const name = `★ ${accounts.get(userId)!.username}`
    const id = await playlists.create(name, 'shared', admin)
    await ledger.write(() => upsertList.run(userId, id))
    return id
  }

  async function showMore(userId: number, kind: 'channel' | 'playlist', id: string): Promise<void> {
    const view = accounts.get(userId)?.view
    // Sees everything by now.
    if (!view) return
    const hidden = isHiding(view) ? (view[kindIn(view, kind)] ?? []) : []
    await changeView(userId, {
      ...view,
      ...(hidden.includes(id) && { [kindIn(view, kind)]: hidden.filter((one) => one !== id) }),
      [kind]: widened(view[kind] ?? [], id),
    })
  }

  async function changeView(userId: number, view: View): Promise<void> {
    await accounts.change(userId, { view })
    await app.emit('view.changed', {})
  }

  async function allowVideo({ user_id, video_id }: Ask, admin: Actor): Promise<void> {
    const list = await listOf(user_id, admin)
    await playlists.act(list, { action: 'create', videoId: video_id }, admin)
    await showMore(user_id, 'playlist', list)
  }

  return {
    async offers(words, actor) {
      if (!mayAsk(actor)) return []
      const text = { words, fields: { title: 1 }, match: 'all' as const, prefixLast: true }
      const { hits } = await beyondView(() => videos.collection.find({ text, size: MOST_FOUND, withoutTotal: true }))
      const seen = await videos.known(hits.map(({ id }) => id))
      const hidden = hits.filter(({ id }) => !seen.has(id)).slice(0, MOST_OFFERED)
      const records = await recordsOf(hidden, actor)
      return records.map((wanted) => offerOf(wanted, selectOf.get(actor.id, wanted.platform_id)))
    },

    async ask(videoId, actor) {
      if (!mayAsk(actor)) throw errors.notFound('video', videoId)
      if (await videos.has(videoId)) throw errors.conflict('This account may already watch the video')
      const text = await beyondView(() => videos.collection.getText(videoId))
      const [wanted] = text === undefined ? [] : await recordsOf([{ id: videoId, text }], actor)
      if (!wanted) throw errors.notFound('video', videoId)
      const { channel_id, channel_name } = wanted.channel
      const isFirst = await ledger.write(() => {
        const before = selectOf.get(actor.id, videoId)
        if (isSettled(before)) return false
        if (before) deleteOne.run(before.id)
        if (countOf.get(actor.id)!.waiting >= MOST_WAITING)
          throw errors.throttled('Wait until your earlier requests have been answered', { retryAfterSeconds: 3600 })
        const isAlone = countAlike.get(videoId)!.waiting === 0
        insert.run(actor.id, videoId, wanted.title, channel_id, channel_name, epochSeconds(clock))
        deleteOld.run(actor.id, MOST_KEPT)
        return isAlone
      })
      if (isFirst)
        await app.jobs.notify({
          title: 'A child asks for a video',
          group: `ask:${videoId}`,
          level: 'info',
          messages: [say`${{ name: actor.username }} asks for “${{ title: wanted.title }}”: Settings → Users`],
          shownForSeconds: TOLD_SECONDS,
          isOver: () => countAlike.get(videoId)!.waiting === 0,
        })
      return offerOf(wanted, selectOf.get(actor.id, videoId))
    },

    own: (userId) =>
      selectOwn.all(userId).map((ask) => ({
        ...{ video_id: ask.video_id, title: ask.title, channel_name: ask.channel_name, state: stateOf(ask) },
      })),
    waiting: () => selectWaiting.all(),

    async answer(id, answer, admin) {
      const ask = selectOne.get(id)
      if (!ask) throw errors.notFound('ask')
      if (answer === 'video') await allowVideo(ask, admin)
      if (answer === 'channel') await showMore(ask.user_id, 'channel', ask.channel_id)
      await ledger.write(() => setAnswer.run(answer, id))
    },
  }
}

/** It waits, or was refused. */
const isSettled = (ask: Ask | undefined): boolean => ask?.answer === null || ask?.answer === 'no'

const stateOf = (ask: Ask | undefined): Offer['state'] => {
  if (!ask) return 'open'
  return ask.answer === null ? 'waiting' : ask.answer === 'no' ? 'refused' : 'allowed'
}

/** @throws conflict */
function widened(ids: readonly string[], id: string): string[] {
  if (ids.includes(id)) return [...ids]
  if (ids.length >= MOST_CHOSEN)
    throw errors.conflict(say`A view can contain at most ${{ count: MOST_CHOSEN }} entries of each kind`)
  return [...ids, id]
}
