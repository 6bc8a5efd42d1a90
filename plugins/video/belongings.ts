/** Everything that belongs to videos, as the bin stores it: collected before their removal, and restored completely. */
import { errors, faultIn, isAppError, isId, told as known, say, Type } from 'archivolt'
import { notSearchable } from './comment-texts.ts'
import { toMediaFields } from './ingest.ts'
import { receiptChange } from './receipt.ts'
import { binOf } from './removal-hooks.ts'
import { CommentDoc, SubtitleDoc, VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Belongings, Renaming, Videos } from './types.ts'

/** Fragments per write. */
const FRAGMENTS = 500

const PlacedFilm = Type.Object({
  videoId: Type.String(),
  channelId: Type.String(),
  placeId: Type.Integer(),
  path: Type.String(),
  ending: Type.String(),
  sizeBytes: Type.Integer(),
  changedMs: Type.Number(),
  state: Type.String(),
})

const Record = Type.Object({
  video: VideoDoc,
  comments: Type.Optional(CommentDoc),
  subtitles: Type.Array(Type.Object({ id: Type.String(), doc: SubtitleDoc })),
  /** Set if the film is in a place. */
  film: Type.Optional(PlacedFilm),
  isMissing: Type.Optional(Type.Literal(true)),
  /** The data of other plugins, by plugin. */
  others: Type.Record(Type.String(), Type.Unknown()),
})

export function openBelongings({ app, collection, comments, subtitles }: VideoState) {
  function renamedIn(others: Belongings['others'], as: Renaming): Belongings['others'] {
    const named = { ...others }
    for (const { of, renamed } of app.hook('video.belongings'))
      if (renamed && named[of] !== undefined) named[of] = renamed(named[of], as)
    return named
  }

  return {
    async collect(ids, { isLean, as } = {}) {
      const docs = await collection.getMany(ids)
      const remarks = isLean ? new Map<string, CommentDoc>() : await comments.getMany([...docs.keys()])
      const fragments = new Map<string, Belongings['subtitles']>()
      if (!isLean)
        for await (const batch of subtitles.scan({ filter: { in: ['platform_id', [...docs.keys()]] } }))
          for (const { id, doc } of batch)
            fragments.set(doc.platform_id, [...(fragments.get(doc.platform_id) ?? []), { id, doc }])
      const missing = app.media.missing.of([...docs.keys()])
      const others = app.hook('video.belongings')
      const told = await Promise.all(others.map(({ collect }) => collect([...docs.keys()])))
      const collected = new Map<string, Belongings>()
      for (const [id, video] of docs) {
        const film = app.media.places.filmOf(id)
        const comment = remarks.get(id)
        collected.set(id, {
          video,
          ...(comment && { comments: notSearchable(comment) }),
          subtitles: fragments.get(id) ?? [],
          ...(film && { film }),
          ...(missing.has(id) && { isMissing: true }),
          others: Object.fromEntries(
            others.flatMap(({ of, renamed }, at) => {
              const own = told[at]!.get(id)
              const value = as && renamed && own !== undefined ? renamed(own, as) : own
              return value === undefined ? [] : [[of, value]]
            }),
          ),
        })
      }
      return collected
    },

    checkBelongings(id, told, as) {
      const fault = faultIn(Record, told)
      if (fault !== undefined) throw errors.unprocessable(say`The record of ${{ id }} is damaged: ${{ fault }}`)
      const record = told as Belongings
      const { video, comments: remarks, subtitles: fragments, film } = record
      const isOwn =
        video.platform_id === id &&
        isId(video.channel_id) &&
        (remarks === undefined || remarks.platform_id === id) &&
        fragments.every((one) => one.doc.platform_id === id && one.id.startsWith(`${id}-`)) &&
        (film === undefined || (film.videoId === id && app.media.containers.endings.includes(film.ending)))
      if (!isOwn) throw errors.unprocessable(say`The record of ${{ id }} is about another video`)
      return as ? { ...record, others: renamedIn(record.others, as) } : record
    },

    async giveBack(belongings) {
      const ids = [...belongings.keys()]
      const all = [...belongings.values()]
      const films = all.flatMap(({ film }) => (film ? [film] : []))
      if (films.length > 0) await app.media.places.keep(films)
      const remarks = [...belongings].flatMap(([id, { comments: doc }]) => (doc ? [{ id, doc }] : []))
      await whole(comments.putMany(remarks, { onlyNew: true, visible: true }))
      const fragments = all.flatMap((one) => one.subtitles)
      for (let from = 0; from < fragments.length; from += FRAGMENTS)
        await whole(subtitles.putMany(fragments.slice(from, from + FRAGMENTS)))
      const docs = [...belongings].map(([id, { video }]) => ({ id, doc: video }))
      await whole(collection.putMany(docs, { onlyNew: true, visible: true }))
      if (remarks.length > 0) await app.videos.startIndexing()
      for (const { of, restore } of app.hook('video.belongings'))
        await restore(
          new Map(
            [...belongings].flatMap(
              ([id, { others }]): Array<[string, unknown]> => (others[of] === undefined ? [] : [[id, others[of]]]),
            ),
          ),
          ids,
        )
    },

    async withFilm(doc, mediaPath) {
      const media_size = (await app.media.sizeOf(mediaPath)) ?? 0
      if (media_size === doc.media_size) return doc
      // The receipt belongs to the other film.
      const { receipt: _, ...others } = doc
      try {
        const { duration, duration_str, ...film } = toMediaFields(await app.media.probe(mediaPath))
        return { ...others, ...film, player: { ...doc.player, duration, duration_str } }
      } catch (thrown) {
        if (!isAppError(thrown)) throw thrown
        return { ...others, media_size }
      }
    },

    async giveBackFilm({ platform_id: id, streams, width, height, media_size, player, receipt }, mediaPath) {
      const now = await collection.get(id)
      if (!now) throw errors.notFound('video', id)
      const channelId = now.channel_id
      if (mediaPath !== undefined) {
        await binOf(app)?.keepFilm(id, mediaPath)
        await app.media.adopt(channelId, id, { mediaPath, subtitles: [] })
      }
      const media_url = app.media.mediaUrl(channelId, id)
      // Without `degraded`: somebody prefers this film, so no better one is downloaded again.
      const change = { streams, width, height, media_size, media_url, player, ...receiptChange(known({ receipt })) }
      await collection.patch(id, { set: change }, { visible: true })
      await app.emit('video.added', { id, channelId, why: 'again' })
    },
  } satisfies Partial<Videos>
}

/** @throws unavailable: some documents could not be written */
async function whole(writing: Promise<{ failed: ReadonlyArray<{ id: string; reason: string }> }>): Promise<void> {
  const [first] = (await writing).failed
  if (first) throw errors.unavailable(say`${{ id: first.id }} could not be restored: ${{ reason: first.reason }}`)
}
