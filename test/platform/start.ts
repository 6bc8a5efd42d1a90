/** Starts a loopback platform for one test, with the settings that make a server or a service use it. */
import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MediaFolder } from './media.mjs'
import { startPlatform } from './platform.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
/** Kept between runs and shared by all tests, because creating the clips takes 20 s. */
export const MEDIA_FOLDER = join(HERE, '../../.cache/platform-media')

/** Settings for a platform that does not answer, with an extractor plugin that could read it. */
export const NO_PLATFORM = { platformUrl: 'http://127.0.0.1:1', ytdlpPlugins: HERE }

export type LoopbackPlatform = Awaited<ReturnType<typeof startPlatform>>

export interface TestPlatform {
  /** The running platform: `faults`, `catalogue`, `requests`, `skipSegments`, `baseUrl`. */
  platform: LoopbackPlatform
  settings: { platformUrl: string; ytdlpPlugins: string }
  /** The same for a server in its own process. */
  env: { AV_PLATFORM_URL: string; AV_YTDLP_PLUGINS: string }
  /** Base URL of the skip-segment service. */
  segmentsUrl: string
  /** Base URL of the service that estimates dislikes. */
  dislikesUrl: string
}

/** An object that runs cleanups at its end, such as a node:test context. */
interface Scope {
  after(cleanUp: () => Promise<void>): void
}

/** @param content  a catalogue as plain data instead of the small one of `seed.mjs` */
export async function startTestPlatform(scope: Scope, content?: object): Promise<TestPlatform> {
  await prepareMedia()
  const platform = await startPlatform({
    mediaFolder: MEDIA_FOLDER,
    port: 0,
    ...(content && { content }),
  } as Parameters<typeof startPlatform>[0])
  scope.after(() => platform.close())
  const platformUrl = platform.baseUrl as string
  return {
    platform,
    settings: { platformUrl, ytdlpPlugins: HERE },
    env: { AV_PLATFORM_URL: platformUrl, AV_YTDLP_PLUGINS: HERE },
    segmentsUrl: platform.skipServiceUrl as string,
    dislikesUrl: platform.votesServiceUrl as string,
  }
}

/** Test files run in parallel: one of them creates the clips, the others wait. */
async function prepareMedia(): Promise<void> {
  await mkdir(MEDIA_FOLDER, { recursive: true })
  const lockPath = join(MEDIA_FOLDER, 'lock')
  for (;;) {
    const lock = await open(lockPath, 'wx').catch(() => undefined)
    if (lock) {
      try {
        await lock.writeFile(String(process.pid))
        return await new MediaFolder(MEDIA_FOLDER).prepare()
      } finally {
        await lock.close()
        await rm(lockPath, { force: true })
      }
    }
    if (await isAbandoned(lockPath)) await rm(lockPath, { force: true })
    else await delay(50)
  }
}

async function isAbandoned(lockPath: string): Promise<boolean> {
  const pid = Number(await readFile(lockPath, 'utf8').catch(() => ''))
  if (!pid) return false // it is just being written, or has been removed
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}
