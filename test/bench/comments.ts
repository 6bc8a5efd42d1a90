/**
 * Measures a search in 2,000,000 comments on the embedded index, and a page of the comments of a video that has 10,000.
 */
import { join } from 'node:path'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { pageOfThreads, partOfThread } from '../../plugins/video/comment-pages.ts'
import { commentTextIndex } from '../../plugins/video/schema.ts'
import { temporaryFolder } from '../support/folder.ts'
import { randomFrom, speaker, vocabulary } from './generate.ts'
import { isQuick, median, openReport, openScope, percentile } from './support/report.ts'

const COMMENTS = isQuick ? 100_000 : 2_000_000
const PER_VIDEO = 100
const PER_WRITE = 5000
const WORDS = 20
/** The limit for every search in the worker thread. */
const SEARCH_P99_MS = 30
/** The limit for work on the event loop. */
const PAGE_P99_MS = 10
const HUGE = 10_000

const report = openReport('comments')
const scope = openScope()
const words = vocabulary(30_000)
const random = randomFrom(5)
const say = speaker(words, random)
const index = await openSqliteIndex({
  file: join(await temporaryFolder(scope), 'index.sqlite'),
  definitions: [commentTextIndex],
  log: openLog('warn'),
  clock: systemClock,
})
const comments = index.collection(commentTextIndex)

async function measure(name: string, atMost: number, times: number, work: (at: number) => unknown): Promise<void> {
  for (let at = 0; at < 5; at++) await work(at)
  const taken: number[] = []
  for (let at = 0; at < times; at++) {
    const started = performance.now()
    await work(at + 5)
    taken.push(performance.now() - started)
  }
  report(name, { unit: 'ms', value: percentile(taken, 0.99), beside: median(taken), limits: 'value', atMost })
}

const started = performance.now()
for (let from = 0; from < COMMENTS; from += PER_WRITE)
  await comments.putMany(
    Array.from({ length: PER_WRITE }, (_, step) => {
      const at = from + step
      const video = `video${Math.floor(at / PER_VIDEO)}`
      return {
        id: `${video}-${at % PER_VIDEO}`,
        doc: {
          platform_id: video,
          comment_id: `c${at}`,
          comment_author: `@${say(1)}${Math.floor(random() * 10_000)}`,
          comment_text: say(WORDS),
          comment_timestamp: 1_500_000_000 + Math.floor(random() * 2e8),
          comment_likecount: Math.floor(random() * 100),
          channel_id: `UC${at % 400}`,
        },
      }
    }),
  )
report('written', { unit: 'comments/s', value: COMMENTS / ((performance.now() - started) / 1000) })

const find = (text: string, channel?: string) =>
  comments.find({
    text: { words: text, match: 'all', dropStopWords: true, prefixLast: true, fuzziness: 'auto' },
    filter: channel === undefined ? undefined : { eq: ['channel_id', channel] },
    size: 30,
    withoutTotal: true,
  })
const of = (from: number, to: number, at: number) =>
  words[from + ((Math.imul(at + 1, 0x9e3779b1) >>> 0) % (to - from))]!
const common = (at: number) => of(40, 200, at)
const middling = (at: number) => of(300, 3000, at)
const misspelt = (word: string) => `${word.slice(0, 2)}x${word.slice(2)}`
await find('zzzzzzz')
await measure('search: common word', SEARCH_P99_MS, 100, (at) => find(common(at)))
await measure('search: two common words', SEARCH_P99_MS, 100, (at) => find(`${common(at)} ${common(at + 7)}`))
await measure('search: middling word', SEARCH_P99_MS, 100, (at) => find(middling(at)))
await measure('search: common and middling', SEARCH_P99_MS, 100, (at) => find(`${common(at)} ${middling(at)}`))
await measure('search: two letters', SEARCH_P99_MS, 100, (at) => find(middling(at).slice(0, 2)))
await measure('search: misspelt', SEARCH_P99_MS, 100, (at) => find(misspelt(middling(at))))
await measure('search: author', SEARCH_P99_MS, 100, (at) => find(`${middling(at)}${at}`))
await measure('search: common, one channel', SEARCH_P99_MS, 100, (at) => find(common(at), `UC${at}`))

const threads = JSON.stringify(
  Array.from({ length: HUGE }, (_, at) => ({
    ...{ comment_id: `c${at}`, comment_parent: 'root', comment_text: say(WORDS), comment_timestamp: 1_700_000_000 },
    ...{
      comment_author: `@${say(1)}`,
      comment_author_id: `UC${at}`,
      comment_author_thumbnail: 'https://img.example/a',
    },
    ...{ comment_likecount: 1, comment_is_favorited: false, comment_author_is_uploader: false, comment_replies: [] },
  })),
)
await measure('page of 10,000 comments', PAGE_P99_MS, 50, (at) => pageOfThreads(threads, at * 12, 12))
await measure('thread among 10,000', PAGE_P99_MS, 50, (at) => partOfThread(threads, `c${at * 190}`))
await index.close()
await scope.close()
