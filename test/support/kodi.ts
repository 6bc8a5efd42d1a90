/** Runs a real Kodi, as packaged by Debian, on a virtual display, and controls it by its JSON-RPC interface. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import Database from 'better-sqlite3'
import { temporaryFolder } from './folder.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { missingHere } from './required.ts'
import { freePort } from './reverse-proxy.ts'
import { until } from './server.ts'

const STARTS_WITHIN_MS = 300_000

/** `/usr/lib/<architecture>/kodi/kodi.bin` */
const program = [
  '/usr/lib',
  ...(existsSync('/usr/lib') ? readdirSync('/usr/lib') : []).map((name) => `/usr/lib/${name}`),
]
  .map((folder) => join(folder, 'kodi/kodi.bin'))
  .find(existsSync)
const screen = (process.env.PATH ?? '')
  .split(':')
  .map((folder) => join(folder, 'Xvfb'))
  .find(existsSync)

/** For the option `skip` of tests: false if there is one. */
export const noKodi: string | false =
  program && screen
    ? false
    : missingHere(
        'kodi',
        'Kodi or Xvfb is not installed (on Debian: apt-get install --no-install-recommends kodi-bin kodi-data xvfb)',
      )

export interface Kodi {
  url: string
  /** @throws its answer, if it refuses */
  ask(method: string, params?: object): Promise<any>
  /** Waits until no scan is running. */
  scanned(): Promise<void>
}

const setting = (id: string, value: string | number | boolean) => `<setting id="${id}">${value}</setting>`

/** @param shows  a folder of shows, which it reads by NFO files alone */
export async function openKodi(scope: Scope, shows: string): Promise<Kodi> {
  const home = await temporaryFolder(scope)
  const port = await freePort()
  await writeProfile(home, port, shows)
  const display = await openScreen(scope)
  const child = spawn(program!, ['--standalone'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      DISPLAY: `:${display}`,
      KODI_HOME: '/usr/share/kodi',
      LIBGL_ALWAYS_SOFTWARE: '1',
    },
  })
  const ended = once(child, 'exit')
  lastFirst(scope).after(async () => {
    child.kill('SIGKILL')
    await ended
  })

  const url = `http://127.0.0.1:${port}`
  async function ask(method: string, params: object = {}): Promise<any> {
    const reply = await fetch(`${url}/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await reply.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }
  const answer = () => ask('JSONRPC.Ping').catch(() => undefined)
  await until('Kodi answers', answer, (said) => said === 'pong', STARTS_WITHIN_MS)
  await readByNfo(home, shows)
  const isScanning = 'Library.IsScanningVideo'
  return {
    ...{ url, ask },
    async scanned() {
      const asked = () => ask('XBMC.GetInfoBooleans', { booleans: [isScanning] })
      await until('Kodi has scanned', asked, (said) => said[isScanning] === false, STARTS_WITHIN_MS)
    },
  }
}

async function writeProfile(home: string, port: number, shows: string): Promise<void> {
  const folder = join(home, '.kodi/userdata')
  await mkdir(folder, { recursive: true })
  const settings = [
    setting('services.webserver', true),
    setting('services.webserverport', port),
    setting('services.webserverauthentication', false),
    setting('services.esenabled', false),
    setting('services.zeroconf', false),
    setting('services.upnp', false),
    setting('general.addonupdates', 2),
    setting('audiooutput.audiodevice', 'NULL'),
  ]
  await writeFile(join(folder, 'guisettings.xml'), `<settings version="2">${settings.join('')}</settings>`)
  await writeFile(
    join(folder, 'sources.xml'),
    `<sources><video><default pathversion="1"></default><source><name>shows</name><path pathversion="1">${shows}/</path><allowsharing>true</allowsharing></source></video></sources>`,
  )
}

/** Does what people do in the window “Set content”: TV shows, local information only. */
async function readByNfo(home: string, shows: string): Promise<void> {
  const folder = join(home, '.kodi/userdata/Database')
  const [name] = (await readdir(folder)).filter((one) => /^MyVideos\d+\.db$/.test(one))
  const database = new Database(join(folder, name!), { timeout: 30_000 })
  try {
    database
      .prepare(
        `INSERT INTO path (strPath, strContent, strScraper, scanRecursive, useFolderNames, strSettings, noUpdate, exclude)
         VALUES (?, 'tvshows', 'metadata.local', 0, 0, '', 0, 0)`,
      )
      .run(`${shows}/`)
  } finally {
    database.close()
  }
}

/** @returns the number of a free display, chosen by the server itself */
async function openScreen(scope: Scope): Promise<string> {
  const child = spawn(screen!, ['-displayfd', '3', '-screen', '0', '320x240x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  lastFirst(scope).after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [number] = await once(child.stdio[3] as Readable, 'data')
  return String(number).trim()
}
