/**
 * Harbour: a second platform. A plain site has a folder for each channel, with an `index.json` that lists its films;
 * they are requested, subscribed to and downloaded like all others.
 */
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type AppOf, definePlugin, errors, type PreferencesOf, type Static, Type, Value } from '@archivolt/plugin'

const preferences = {
  harbour: {
    site: Type.String({
      title: 'Address of the site',
      description: 'Ends with a slash. Empty: nothing is asked for.',
      pattern: '^(https?://[^\\s?#]+/)?$',
      maxLength: 2000,
      default: '',
    }),
  },
}

type App = AppOf<'harbour' | 'platform'>

const PREFIX = 'harbour-'
/** Maximum part of a film in memory. */
const CHUNK_BYTES = 4_000_000
const PER_PAGE = 50
const NAME = '[a-z0-9]{1,40}'

/** `harbour-quay-fog1`; a channel is `harbour-channel-quay`. */
const videoId = (channel: string, film: string): string => `${PREFIX}${channel}-${film}`
const channelId = (channel: string): string => `${PREFIX}channel-${channel}`

function partsOf(id: string): { channel: string; film: string } {
  const [, channel, film] = new RegExp(`^${PREFIX}(${NAME})-(${NAME})$`).exec(id) ?? []
  if (channel === undefined || film === undefined) throw errors.notFound('film', id)
  return { channel, film }
}

const channelOf = (id: string): string => partsOf(id).film

const Film = Type.Object({
  film: Type.String({ pattern: `^${NAME}$` }),
  title: Type.String({ maxLength: 1000 }),
  published: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  seconds: Type.Number({ minimum: 0 }),
  /** The file `<film>.jpg` exists. */
  picture: Type.Boolean({ default: false }),
})
const Index = Type.Object({
  name: Type.String({ maxLength: 500 }),
  /** The file `channel.jpg` exists. */
  picture: Type.Boolean({ default: false }),
  films: Type.Array(Film, { maxItems: 10_000 }),
})

function addressOf(app: App, channel: string, file: string): string {
  const { site } = app.preferences.section('harbour')
  if (site === '') throw errors.unavailable('Name the site in the settings')
  return new URL(`${channel}/${file}`, site).href
}

async function indexOf(app: App, channel: string, signal: AbortSignal) {
  const reply = await app.fetch(addressOf(app, channel, 'index.json'), { signal })
  if (reply.status === 404) throw errors.notFound('channel', channel)
  if (!reply.ok) throw errors.unavailable(`The site answered with status ${reply.status}`)
  const index = Value.Default(Index, JSON.parse(await reply.text()))
  if (!Value.Check(Index, index)) throw errors.unavailable('The site has a list that cannot be read')
  return index
}

async function filmOf(app: App, id: string, signal: AbortSignal) {
  const { channel, film } = partsOf(id)
  const { name, films } = await indexOf(app, channel, signal)
  const found = films.find((one) => one.film === film)
  if (!found) throw errors.notFound('film', id)
  const { title, published, seconds: durationSeconds } = found
  const own = { id, title, channelId: channelId(channel), channelName: name, published, durationSeconds }
  return { ...own, ...pictureOf(app, channel, found) }
}

const pictureOf = (app: App, channel: string, { film, picture }: Static<typeof Film>) =>
  picture ? { thumbnail: addressOf(app, channel, `${film}.jpg`) } : {}

/** Downloads in chunks, and continues an earlier attempt. */
async function fetchFilm(
  url: string,
  to: string,
  { app, signal, tell }: { app: App; signal: AbortSignal; tell: (fraction: number) => void },
): Promise<void> {
  const part = await open(`${to}.part`, 'a')
  try {
    let { size } = await part.stat()
    for (let total = Number.POSITIVE_INFINITY; size < total; ) {
      const range = `bytes=${size}-${size + CHUNK_BYTES - 1}`
      const reply = await app.fetch(url, { headers: { range }, maxBytes: CHUNK_BYTES, signal })
      if (reply.status === 404) throw errors.notFound('film', url)
      total = Number(/^bytes \d+-\d+\/(\d+)$/.exec(reply.headers.get('content-range') ?? '')?.[1])
      if (reply.status !== 206 || !(total > 0)) throw errors.unavailable(`The site answered with status ${reply.status}`)
      const bytes = Buffer.from(await reply.arrayBuffer())
      if (bytes.length === 0) throw errors.unavailable('The site sends nothing')
      await part.writeFile(bytes)
      size += bytes.length
      tell(size / total)
    }
    await part.sync()
  } finally {
    await part.close()
  }
  await rename(`${to}.part`, to)
}

export default definePlugin({
  name: 'harbour',
  api: 1,
  needs: ['platform'],
  preferences,
  implements: {
    'platform.source': (app) => ({
      name: 'Harbour',
      prefix: PREFIX,
      target(word) {
        const { site } = app.preferences.section('harbour')
        const [, channel, film] =
          (site !== '' && word.startsWith(site) && new RegExp(`^(${NAME})/(?:(${NAME})\\.mp4)?$`).exec(word.slice(site.length))) ||
          []
        const id = channel === undefined ? word : film === undefined ? channelId(channel) : videoId(channel, film)
        if (!new RegExp(`^${PREFIX}${NAME}-${NAME}$`).test(id)) return undefined
        return { type: partsOf(id).channel === 'channel' ? 'channel' : 'video', id }
      },
      watchUrl(id) {
        const { channel, film } = partsOf(id)
        return addressOf(app, channel, `${film}.mp4`)
      },
      channelUrl: (id) => addressOf(app, channelOf(id), ''),
      video: (id, { signal }) => filmOf(app, id, signal),
      async channel(id, { signal }) {
        const channel = channelOf(id)
        const { name, picture } = await indexOf(app, channel, signal)
        return { id, name, art: picture ? { thumb: addressOf(app, channel, 'channel.jpg') } : {} }
      },
      async list(id, { signal, page }) {
        const channel = channelOf(id)
        const { films } = await indexOf(app, channel, signal)
        return films
          .slice(page * PER_PAGE, (page + 1) * PER_PAGE)
          .map((one) => ({
            ...{ id: videoId(channel, one.film), title: one.title, durationSeconds: one.seconds },
            ...pictureOf(app, channel, one),
          }))
      },
      async download(id, { folder, signal, progress }) {
        const { channel, film } = partsOf(id)
        await fetchFilm(addressOf(app, channel, `${film}.mp4`), join(folder, `${id}.mp4`), {
          ...{ app, signal },
          tell: (fraction) => progress({ fraction }),
        })
        return undefined
      },
    }),
  },
})

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    harbour: PreferencesOf<typeof preferences.harbour>
  }
}
