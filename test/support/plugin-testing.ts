/**
 * Public as '@archivolt/plugin/testing': the whole server on a temporary folder with a stopped clock, an author's
 * plugins as if they came from AV_PLUGINS_DIR, and a platform with the videos that a test offers.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TSchema } from 'typebox'
import { findBuiltIn } from '../../config/cli/find-plugins.ts'
import type { Settings } from '../../config/schema.ts'
import { faultsIn, isValid } from '../../core/base/validation.ts'
import { BytesReply, EventStream, FileReply, jsonOf, Listing, NotModified } from '../../core/http/reply.ts'
import { type Log, openLog } from '../../core/log.ts'
import { isOf } from '../../core/plugin/check.ts'
import type { Plugin, Reply, Route, Services, WholeApp } from '../../core/plugin/define.ts'
import type {
  ChannelMetadata,
  Downloaded,
  Failure,
  ListEntry,
  Platform,
  VideoMetadata,
} from '../../plugins/platform/types.ts'
import type { VideoDoc } from '../../plugins/video/schema.ts'
import { aDownloadReceipt, type Given } from './builders.ts'
import type { TestClock } from './clock.ts'
import { makeFilm, makePicture } from './ffmpeg.ts'
import { type Client, type TestApp as OpenedTestApp, testApp as openTestApp, PASSWORD } from './testing.ts'

export * from './builders.ts'
export { type TestClock, testClock } from './clock.ts'
export { type Ask, type Client, type CommandOptions, type CommandReply, PASSWORD, type TestReply } from './testing.ts'

export interface TestOptions {
  /** In addition to the built-in ones. */
  plugins?: readonly Plugin[]
  settings?: Partial<Settings>
  clock?: TestClock
  /** Default: failures are written to stderr, with their stacks. */
  log?: Log
  /** A folder that is not removed, such as that of an earlier test app. */
  dataDir?: string
}

export interface TestApp extends OpenedTestApp {
  /**
   * Requests a video of the platform and downloads it; resolves when it is in the archive and every plugin has handled
   * the event. Its film is one second of ffmpeg's test picture, so ffmpeg must be installed.
   * @param video  `aVideo({ … })`
   */
  download(video: Given): Promise<void>
  /** Adds a video to the platform, for plugins that list or request videos themselves. */
  offer(video: Given): void
  /**
   * The `api` that a plugin's page and button get: it sends requests as this account, and only those that the manifest
   * allows.
   * @param who  as for `as`; default: `user`
   */
  pageApi(plugin: string, who?: string): PageApi
}

/** The `Api` of '@archivolt/plugin/page', without a browser. */
export interface PageApi {
  get<Answer>(path: string, query?: PageQuery): Promise<Answer>
  post<Answer>(path: string, body?: object, query?: PageQuery): Promise<Answer>
  put<Answer>(path: string, body: object): Promise<Answer>
  remove<Answer>(path: string, body?: object): Promise<Answer>
}
type PageQuery = Readonly<Record<string, string | number | boolean | undefined>>

/** An object that runs cleanups at its end, such as a node:test context. */
interface Scope {
  after(cleanUp: () => Promise<void>): void
}

export async function testApp(scope: Scope, { plugins = [], ...options }: TestOptions = {}): Promise<TestApp> {
  const offered = new Map<string, Offered>()
  const builtIn = (await findBuiltIn()).find(({ plugin }) => plugin.name === 'platform')!.plugin
  const outside = plugins.map(withComparedReplies)
  const app = await openTestApp(scope, {
    ...{ log: tellingLog(), ...options, outside },
    replace: [scripted(builtIn, offered)],
  })
  const { accounts } = app.app
  // The test's own folder has only an admin so far.
  if (!accounts.list().some(({ is_staff }) => !is_staff))
    await accounts.create({ username: 'user', password: PASSWORD, isStaff: false })
  const offer = ({ doc }: Given): void => {
    const metadata = metadataOf(doc as unknown as VideoDoc)
    offered.set(metadata.id, metadata)
  }
  const own: Pick<TestApp, 'download' | 'offer' | 'pageApi' | 'settled'> = {
    offer,
    settled: () => settled(app),
    pageApi: (plugin, who = 'user') => pageApi(app, plugin, who),
    async download(video) {
      await areThere()
      offer(video)
      const { id, title, channelId, channelName, durationSeconds, published, vidType } = offered.get(video.id)!
      const { queue, jobs } = app.app
      await queue.add([{ id, title, channelId, channelName, durationSeconds, published, vidType }], 'pending')
      await jobs.start('download_pending')
      await settled(app)
    },
  }
  return Object.assign(Object.create(app) as OpenedTestApp, own)
}

/**
 * After this long without a change, a job counts as waiting for the clock if its plugin waits, and otherwise as stuck.
 */
const WAITS_MS = 3_000
const STUCK_MS = 60_000
const LOOK_MS = 250

/**
 * The clock is stopped, so a job that waits for it would wait for ever.
 * @throws an Error that names the job
 */
async function settled(app: OpenedTestApp): Promise<void> {
  let changedAt = performance.now()
  const unwatch = app.app.jobs.watch(() => void (changedAt = performance.now()))
  let timer: NodeJS.Timeout | undefined
  const stuck = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      const reason = stuckFor(performance.now() - changedAt, app)
      if (reason !== undefined) reject(new Error(reason))
    }, LOOK_MS)
  })
  try {
    await Promise.race([app.settled(), stuck])
  } finally {
    clearInterval(timer)
    unwatch()
  }
}

function stuckFor(ms: number, { app: { ledger, registry }, clock }: OpenedTestApp): string | undefined {
  if (ms < WAITS_MS) return undefined
  const tasks = ledger
    .sql<{ task: string }>("SELECT DISTINCT task FROM jobs WHERE state IN ('PENDING', 'STARTED') ORDER BY seq")
    .all()
    .map(({ task }) => task)
  for (const { name, tasks: own = [] } of registry.plugins) {
    const next = clock.nextOf(name)
    const task = tasks.find((one) => one === `${name}.hear` || own.some((each) => each.name === one))
    if (next !== undefined && task !== undefined)
      return `The task ${task} has not ended: it waits for the clock, which stands still. Move it: await archive.clock.advance(${next})`
  }
  if (ms < STUCK_MS || tasks.length === 0) return undefined
  return `For ${STUCK_MS / 1000} s nothing has happened, and these tasks have not ended: ${tasks.join(', ')}`
}

function pageApi(app: OpenedTestApp, plugin: string, who: string): PageApi {
  const asks = app.app.plugins.pages.filter((page) => page.plugin === plugin).flatMap((page) => page.asks)
  const refused = (message: string, more: object) => Object.assign(new Error(message), more)
  const ask =
    (verb: keyof Client) =>
    async <Answer>(path: string, body?: object, query: PageQuery = {}): Promise<Answer> => {
      const question = `${verb.toUpperCase()} ${path}`
      if (!asks.some((one) => isOf(question, one)))
        throw refused(`The plugin ${plugin} has no page that may ask ${question}: name it in its \`asks\``, {
          ...{ status: 403, code: 'permission_denied', fields: {} },
        })
      const given = Object.entries(query).flatMap<[string, string]>(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      )
      const address = given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path
      const client = app.as(who)
      const { status, body: answer } = await (verb === 'get' ? client.get(address) : client[verb](address, body))
      if (status >= 400) {
        const { message, code = '', fields = {} } = answer as { message: string; code?: string; fields?: object }
        throw refused(message, { status, code, fields })
      }
      return answer as Answer
    }
  const get = ask('get')
  return {
    get: (path, query) => get(path, undefined, query),
    post: ask('post'),
    put: ask('put'),
    remove: ask('delete'),
  }
}

/** Clients rely on the API's description: a reply that differs from its route's schema fails the test. */
const withComparedReplies = (plugin: Plugin): Plugin =>
  plugin.routes ? { ...plugin, routes: plugin.routes.map(compared) } : plugin

const compared = (route: Route): Route => ({
  ...route,
  async handle(input, app) {
    const reply = await route.handle(input, app)
    for (const value of sentFor(reply, route.reply)) {
      const [fault] = isValid(route.reply, value) ? [] : Object.entries(faultsIn(route.reply, value))
      if (fault)
        throw new Error(
          `What ${route.method} ${route.path} replies is not what its \`reply\` says: ${fault.join(' ').trim()}`,
        )
    }
    return reply
  },
})

/** The JSON values of a reply that must match the schema: for a page, the list or its records. */
function sentFor(reply: Reply, schema: TSchema): unknown[] {
  if (reply instanceof Listing) {
    const records = reply.texts.map((text) => JSON.parse(text) as unknown)
    return 'type' in schema && schema.type === 'array' ? [records] : records
  }
  if (reply === undefined || NO_JSON.some((kind) => reply instanceof kind)) return []
  return [JSON.parse(jsonOf(reply))]
}
const NO_JSON = [BytesReply, EventStream, FileReply, NotModified]

/** Writes failures as a person reads them at a terminal. */
const tellingLog = (): Log =>
  openLog('warn', {
    write(line) {
      const {
        plugin = 'archivolt',
        msg,
        err,
      } = JSON.parse(line) as {
        plugin?: string
        msg: string
        err?: { stack?: string }
      }
      if (err) process.stderr.write(`${plugin}: ${msg}: ${err.stack}\n`)
    },
  })

/** The real plugin, except for its requests to the network. */
function scripted(builtIn: Plugin, offered: ReadonlyMap<string, Offered>): Plugin {
  return {
    ...builtIn,
    services: (app: WholeApp) => {
      const { platform } = builtIn.services!(app) as Services['platform']
      const isOthers = (id: string) => app.hook('platform.source').some(({ prefix }) => id.startsWith(prefix))
      return { platform: { ...platform, ...scriptedBut(isOthers, platform, answers(offered)) } }
    },
  }
}

/** Requests for other platforms go to the plugins that provide them. The first argument of each request is an id. */
function scriptedBut(isOthers: (id: string) => boolean, platform: Platform, scripted: Answers): Answers {
  const chosen = Object.entries(scripted).map(([verb, answer]) => [
    verb,
    (...args: unknown[]) => {
      const of = typeof args[0] === 'string' && isOthers(args[0]) ? platform[verb as keyof Answers] : answer
      return (of as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(chosen) as Answers
}

type Offered = VideoMetadata & { title: string; published: string }
type Answers = Pick<
  Platform,
  | 'video'
  | 'channel'
  | 'playlist'
  | 'playlistsOf'
  | 'list'
  | 'feed'
  | 'download'
  | 'subtitles'
  | 'untilSubtitles'
  | 'comments'
>

function answers(offered: ReadonlyMap<string, Offered>): Answers {
  const video = (id: string): Offered => offered.get(id) ?? gone(`There is no video ${id}`)
  return {
    video: async (id) => video(id),
    async channel(id) {
      const one = [...offered.values()].find(({ channelId }) => channelId === id)
      return one ? channelOf(one) : gone(`There is no channel ${id}`)
    },
    playlist: async (id) => gone(`There is no playlist ${id}`),
    playlistsOf: async () => [],
    async *list(channelId, tab) {
      yield [...offered.values()].filter((one) => one.channelId === channelId && one.vidType === tab).map(rowOf)
    },
    feed: async () => undefined,
    download: async (id, { folder }) => filesOf(video(id), folder),
    subtitles: async () => ({ subtitles: [], arePutOff: false }),
    untilSubtitles: async () => undefined,
    comments: async () => [],
  }
}

function gone(message: string): never {
  // The callers of the platform recognize its failures by name and shape (`failureOf`).
  throw Object.assign(new Error(message), { name: 'PlatformFailure', failure: 'gone' } satisfies Partial<Failure>)
}

/**
 * A download without its files would be retried later, by a clock that is stopped: if ffmpeg is missing, the test fails
 * with this message instead of waiting for ever.
 */
async function areThere(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'av-offered-'))
  try {
    await layFiles(join(folder, 'film'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function layFiles(base: string): Promise<void> {
  await makeFilm(`${base}.mp4`)
  await makePicture(`${base}.webp`)
}

async function filesOf(metadata: VideoMetadata, folder: string): Promise<Downloaded> {
  const place = (ending: string): string => join(folder, `${metadata.id}${ending}`)
  await layFiles(place(''))
  await writeFile(place('.en.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\na line of subtitles\n')
  const subtitle = { lang: 'en', name: 'English', source: 'user', url: '', path: place('.en.vtt') } as const
  return {
    metadata,
    receipt: aDownloadReceipt(),
    mediaPath: place('.mp4'),
    thumbnailPath: place('.webp'),
    subtitles: [subtitle],
  }
}

const rowOf = ({ id, title, durationSeconds, vidType }: Offered): ListEntry => ({
  ...{ id, title, durationSeconds, vidType },
  isPending: false,
})

const channelOf = ({ channelId, channelName }: VideoMetadata): ChannelMetadata => ({
  id: channelId,
  name: channelName,
  description: '',
  tags: [],
  subscribers: 0,
  views: 0,
  tabs: ['videos'],
  art: {},
})

const metadataOf = (doc: VideoDoc): Offered => ({
  id: doc.platform_id,
  title: doc.title,
  description: doc.description,
  channelId: doc.channel_id,
  channelName: `Channel ${doc.channel_id}`,
  vidType: doc.vid_type,
  published: doc.published,
  durationSeconds: doc.player.duration,
  tags: doc.tags,
  categories: doc.category,
  viewCount: doc.stats.view_count,
  likeCount: doc.stats.like_count,
  averageRating: doc.stats.average_rating,
  thumbnails: [],
  chapters: doc.chapters ?? [],
  subtitles: { user: ['en'], auto: [] },
})
