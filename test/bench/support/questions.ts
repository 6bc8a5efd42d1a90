/**
 * The questions that readers ask an index, the same for each adapter: pages, sums, and searches for every kind of word.
 */

import type { DocOf, IndexDefinition, NamesOf } from '../../../core/index/mapping.ts'
import type { Collection } from '../../../core/index/port.ts'
import { channelIndex } from '../../../plugins/channel/schema.ts'
import { playlistIndex } from '../../../plugins/playlist/schema.ts'
import { subtitleIndex, videoIndex } from '../../../plugins/video/schema.ts'
import { type Archive, firstVideos } from '../generate.ts'

export const DEFINITIONS = [channelIndex, videoIndex, subtitleIndex, playlistIndex]

type CollectionOf<Definition extends IndexDefinition> = Collection<DocOf<Definition>, NamesOf<Definition>>

export interface Asked {
  videos: number
  archive: Archive
  collection: CollectionOf<typeof videoIndex>
  subtitle: CollectionOf<typeof subtitleIndex>
}

export interface Question {
  name: string
  times: number
  /** @param at  less than `times`; the same number asks the same question */
  ask(at: number): Promise<unknown>
}

const KNOWN = 2000

export function questionsOf({ videos, archive, collection, subtitle }: Asked): Question[] {
  const known = firstVideos(archive, KNOWN)
  const ids = known.map(({ id }) => id)
  const channels = known.map(({ doc }) => doc.channel_id)
  const questions: Question[] = []
  const question = (name: string, times: number, ask: Question['ask']) => void questions.push({ name, times, ask })
  const one = <Value>(from: readonly Value[], at: number, more = 0): Value =>
    from[(Math.imul(at * 4 + more + 1, 0x9e3779b1) >>> 0) % from.length]!

  const published = [{ by: 'published' as const, order: 'desc' as const }]
  const page = { size: 12, sort: published }
  question('item', 2000, (at) => collection.getText(one(ids, at)))
  question('page 0', 2000, () => collection.find(page))
  question('page 500', 500, () => collection.find({ ...page, from: 6000 }))
  question('page of a channel', 1000, (at) =>
    collection.find({ ...page, filter: { eq: ['channel_id', one(channels, at)] } }),
  )
  question('page, sorted upwards', 200, () => collection.find({ size: 12, sort: [{ by: 'published', order: 'asc' }] }))
  question('page, filter without index', 200, () =>
    collection.find({ size: 12, filter: { eq: ['active', false] }, sort: published }),
  )
  question('page of a playlist', 200, (at) =>
    collection.find({ ...page, filter: { eq: ['playlist', `PL${at % 500}`] } }),
  )
  question('unwatched by size', 200, () =>
    collection.find({
      size: 12,
      filter: { not: { eq: ['watched_by', '1'] } },
      sort: [{ by: 'media_size', order: 'desc' }],
    }),
  )
  question('100 ids in order', 200, () => collection.find({ size: 12, ids: ids.slice(0, 100) }))

  // Uses another limit each time, because the adapter caches the answer to a repeated question.
  const sums = ['media_size' as const, 'duration' as const]
  question('sums by type and state', 50, (at) =>
    collection.aggregate({ limit: 1000 + at, groupBy: ['vid_type', 'active'], sums }),
  )
  question('sums by watched', 50, (at) =>
    collection.aggregate({ limit: 1000 + at, filter: { eq: ['watched_by', '1'] }, sums: ['duration'] }),
  )
  question('ten biggest channels', 50, (at) =>
    collection.aggregate({
      groupBy: ['channel_id'],
      sums,
      orderBy: { metric: 'media_size', order: 'desc' },
      limit: 10 + at,
    }),
  )
  const weekAgo = 1_500_000_000 + videos * 600 - 7 * 86_400
  question('downloads by day, 7 days', 50, (at) =>
    collection.aggregate({
      limit: 1000 + at,
      filter: { range: ['date_downloaded', { gte: weekAgo }] },
      histogram: { field: 'date_downloaded', interval: 'day' },
      sums: ['media_size'],
    }),
  )
  question('downloads by month, all', 20, (at) =>
    collection.aggregate({
      limit: 1000 + at,
      histogram: { field: 'date_downloaded', interval: 'month' },
      sums: ['media_size'],
    }),
  )

  const common = (at: number, more = 0) => one(archive.words.slice(0, 80), at, more)
  const middling = (at: number, more = 0) => one(archive.words.slice(300, 3000), at, more)
  const misspelt = (text: string) => text.slice(0, 2) + text.slice(3)
  const search = (words: string, more = {}) =>
    collection.find({ text: { words, prefixLast: true, fuzziness: 'auto' }, size: 30, withoutTotal: true, ...more })
  question('first fuzzy search', 1, () => search('zzzzzzz'))
  question('search: common word', 300, (at) => search(common(at)))
  question('search: two common words', 300, (at) => search(`${common(at)} ${common(at, 1)}`))
  question('search: middling word', 300, (at) => search(middling(at)))
  question('search: common and middling', 300, (at) => search(`${common(at)} ${middling(at)}`))
  question('search: one letter', 100, (at) => search('abcdefghijklmnoprstuvw'[at % 22]!))
  question('search: two letters', 300, (at) => search(middling(at).slice(0, 2)))
  question('search: three letters', 300, (at) => search(middling(at).slice(0, 3)))
  question('search: four letters', 300, (at) => search(middling(at).slice(0, 4)))
  question('search: misspelt', 300, (at) => search(misspelt(middling(at))))
  question('search: two misspelt', 300, (at) => search(`${misspelt(middling(at))} ${misspelt(middling(at, 1))}`))
  question('search: common, active', 300, (at) => search(common(at), { filter: { eq: ['active', true] } }))
  question('search: common, inactive', 100, (at) => search(common(at), { filter: { eq: ['active', false] } }))
  question('search: common, one channel', 100, (at) =>
    search(common(at), { filter: { eq: ['channel_id', one(channels, at)] } }),
  )
  question('search: with total', 300, (at) => search(middling(at), { withoutTotal: false }))
  question('search: sorted', 100, (at) => search(middling(at), { sort: [{ by: 'date_downloaded', order: 'desc' }] }))
  question('similar', 300, (at) => collection.similar(one(ids, at), { size: 6, filter: { eq: ['active', true] } }))

  const full = (words: string, more = {}) =>
    subtitle.find({
      text: { words, match: 'any', fuzziness: 'auto', dropStopWords: true, prefixLast: true },
      size: 30,
      withoutTotal: true,
      ...more,
    })
  question('full: first fuzzy', 1, () => full('zzzzzzz'))
  question('full: common word', 100, (at) => full(common(at)))
  question('full: two common', 100, (at) => full(`${common(at)} ${common(at, 1)}`))
  question('full: middling', 100, (at) => full(middling(at)))
  question('full: three words', 100, (at) => full(`${middling(at)} ${common(at)} ${middling(at, 1)}`))
  question('full: two misspelt', 100, (at) => full(`${misspelt(middling(at))} ${misspelt(middling(at, 1))}`))
  question('full: common, lang', 100, (at) => full(common(at), { filter: { eq: ['subtitle_lang', 'en'] } }))
  question('full: common, no such lang', 100, (at) => full(common(at), { filter: { eq: ['subtitle_lang', 'de'] } }))
  question('full: middling, source', 100, (at) => full(middling(at), { filter: { eq: ['subtitle_source', 'user'] } }))
  return questions
}
