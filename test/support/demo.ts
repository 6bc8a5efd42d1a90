/**
 * `make demo`: the built server with the loopback platform and a few videos in the queue; with EMPTY=1, as a new user
 * finds it. Nothing leaves this machine, and nothing remains afterwards.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO_CLIPS, MediaFolder } from '../platform/media.mjs'
import { CHANNEL, PLAYLIST, VIDEO } from '../platform/seed.mjs'
import { MEDIA_FOLDER, startTestPlatform } from '../platform/start.ts'
import { UNPACED, WITH_TEXTS } from './preferences.ts'
import { START } from './server.ts'
import { declaredVariables } from './settings.ts'

const [USERNAME, PASSWORD] = ['demo', 'demo']
/** Starts as for a new user: without content and settings. */
const isEmpty = process.env['EMPTY'] === '1'
const cleanUps: Array<() => Promise<void>> = []

const folder = await mkdtemp(join(tmpdir(), 'archivolt-demo-'))
const {
  env,
  segmentsUrl,
  dislikesUrl,
  platform: pretended,
} = await startTestPlatform({ after: (cleanUp) => void cleanUps.push(cleanUp) })
if (!isEmpty) await drawFilms()
/**
 * The settings that the demo takes from the environment: those that do not affect the user's own archive, and those
 * that external plugins declare.
 */
const TAKEN = ['AV_PORT', 'AV_HOST', 'AV_PLUGINS_DIR', 'AV_PLUGINS_OFF']
const ours = new Set((await declaredVariables()).filter((name) => !TAKEN.includes(name)))
const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.has(name)))
const server = spawn(START, {
  env: {
    ...inherited,
    AV_DATA_DIR: folder,
    AV_USERNAME: USERNAME,
    AV_PASSWORD: PASSWORD,
    AV_SEGMENTS_URL: segmentsUrl,
    AV_DISLIKES_URL: dislikesUrl,
    AV_LOG_LEVEL: 'warn',
    AV_YTDLP_UPDATE: 'off',
    ...env,
  },
  stdio: ['inherit', 'pipe', 'inherit'],
})
// Ctrl-C also reaches the server, which ends by itself and so ends the demo.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => server.kill('SIGTERM'))
server.once('exit', (code) => {
  void Promise.all([...cleanUps.map((cleanUp) => cleanUp()), rm(folder, { recursive: true, force: true })]).then(() =>
    process.exit(code ?? 0),
  )
})

const url = await new Promise<string>((resolve) => {
  server.stdout.on('data', (chunk: Buffer) => {
    const found = /listens on (\S+)/.exec(chunk.toString())?.[1]
    if (found) resolve(found)
  })
})
const ask = async (
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Record<string, unknown>
}
const { token } = await ask('api/login/', { username: USERNAME, password: PASSWORD })
const authorization = `Token ${token}`
if (!isEmpty) await fill()

/** Draws longer films than those for tests, which last seconds and show a test picture. */
async function drawFilms(): Promise<void> {
  const films = new MediaFolder(MEDIA_FOLDER)
  process.stdout.write('Rendering sample videos (about 30 s, first run only)\n')
  const half = DEMO_CLIPS.length / 2
  await Promise.all([DEMO_CLIPS.slice(0, half), DEMO_CLIPS.slice(half)].map((some) => films.prepare(some)))
  const clips = { breakwater: 'waves', lighthouse: 'night', ferry: 'sunset', nets: 'nets', gull: 'gulls', knot: 'knot' }
  for (const [video, clip] of Object.entries(clips) as Array<[keyof typeof clips, string]>)
    pretended.catalogue.put('videos', VIDEO[video], { clip: `demo-${clip}` })
  const chapters = ['Low water', 'First stones', 'The crane']
  pretended.catalogue.put('videos', VIDEO.breakwater, {
    chapters: chapters.map((title, at) => ({ title, start_time: at * 10 })),
  })
}

/** Fills the archive with an example of everything that a video may have. */
async function fill(): Promise<void> {
  pretended.skipSegments.add(VIDEO.breakwater, [{ segment: [4, 7], category: 'sponsor' }])
  pretended.votes.add(VIDEO.breakwater, 23)
  await ask(
    'api/config/',
    {
      ...UNPACED,
      downloads: {
        ...UNPACED.downloads,
        ...WITH_TEXTS,
        integrate_sponsorblock: true,
        integrate_ryd: true,
      },
    },
    { authorization },
  )
  const first = [VIDEO.breakwater, VIDEO.lighthouse, VIDEO.gull, VIDEO.ferry, VIDEO.nets, VIDEO.knot].map((id) => ({
    platform_id: id,
    youtube_id: id,
    status: 'pending',
  }))
  await ask('api/download/?autostart=true', { data: first }, { authorization })
}

const platform = env.AV_PLATFORM_URL
process.stdout.write(`The demo runs on ${url} (user ${USERNAME}, password ${PASSWORD}, token ${token})
${isEmpty ? 'The archive is empty. Links to try:' : 'Six videos are being downloaded. More links to try:'}
  ${platform}/channel/${CHANNEL.harbour}
  ${platform}/playlist?list=${PLAYLIST.joinery}
Press Ctrl-C to stop.
`)
