/**
 * A Python package index on loopback with real wheels: the tests' yt-dlp under other versions, and the packages that it
 * pins.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import { TOOLS } from './tools.ts'

interface Scope {
  after(cleanUp: () => Promise<void>): void
}

export interface Wheel {
  name: string
  version: string
  requires?: string[]
  /** Packages of the tests' own tools that the wheel contains, by their import names. */
  packages?: string[]
  /** Replaced or added files. */
  files?: Record<string, string>
  /** Text that is appended to a file. */
  added?: Record<string, string>
  /** Programs. */
  scripts?: Record<string, string>
}

const MAKE = `
import json, os, site, sys, zipfile
wheel, out = json.loads(sys.argv[1]), sys.argv[2]
stem = wheel['name'].replace('-', '_') + '-' + wheel['version']
home = site.getsitepackages()[0]
names = []
with zipfile.ZipFile(out, 'w') as archive:
    def put(name, text):
        names.append(name)
        info = zipfile.ZipInfo(name)
        info.external_attr = 0o755 << 16
        archive.writestr(info, text)
    files = dict(wheel.get('files') or {})
    for package in wheel.get('packages') or []:
        for folder, folders, found in os.walk(os.path.join(home, package)):
            folders[:] = [one for one in folders if one != '__pycache__']
            for file in found:
                path = os.path.join(folder, file)
                name = os.path.relpath(path, home)
                if name in files:
                    continue
                with open(path, 'rb') as source:
                    put(name, source.read() + (wheel.get('added') or {}).get(name, '').encode())
    for name, text in files.items():
        put(name, text)
    for name, text in (wheel.get('scripts') or {}).items():
        put(f'{stem}.data/scripts/{name}', text)
    requires = ''.join(f'Requires-Dist: {one}\\n' for one in wheel.get('requires') or [])
    metadata = f'Metadata-Version: 2.1\\nName: {wheel["name"]}\\nVersion: {wheel["version"]}\\nProvides-Extra: default\\nProvides-Extra: pin-deno\\nProvides-Extra: build\\n{requires}'
    put(f'{stem}.dist-info/METADATA', metadata)
    put(f'{stem}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: tests\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    record = f'{stem}.dist-info/RECORD'
    put(record, ''.join(f'{name},,\\n' for name in [*names, record]))
print(metadata, end='')
`

const versionText = (version: string) =>
  `__version__ = '${version}'\nCHANNEL = 'stable'\nORIGIN = 'yt-dlp/yt-dlp'\nRELEASE_GIT_HEAD = VARIANT = UPDATE_HINT = None\n_pkg_version = __version__\n`

const DEFAULTS = ["yt-dlp-ejs==0.8.0; extra == 'default'", "requests<3,>=2.32.2; extra == 'default'"]

/** yt-dlp under this version, with its real pins. */
export const aYtDlp = (version: string, more: Partial<Wheel> = {}): Wheel => ({
  name: 'yt-dlp',
  version,
  packages: ['yt_dlp'],
  requires: [...DEFAULTS, "hatchling; extra == 'build'"],
  ...more,
  files: { 'yt_dlp/version.py': versionText(version), ...more.files },
})

/** Offers only the old format: the defect shows only when a film is requested. */
export const KEEPS_BACK = {
  'yt_dlp/YoutubeDL.py': `
_whole = YoutubeDL.process_video_result
def _less(self, info_dict, download=True):
    info_dict['formats'] = [one for one in info_dict.get('formats') or [] if one['format_id'] == '18']
    return _whole(self, info_dict, download)
YoutubeDL.process_video_result = _less
`,
}

/** Sends requests under this client name, which a platform may know even if it refuses older clients. */
export const asClient = (name: string) => ({
  'yt_dlp/utils/networking.py': `\nstd_headers['User-Agent'] += ' ${name}'\n`,
})

/** yt-dlp's challenge scripts; for another version than that of the tools, the wheel has only the name. */
export const anEjs = (version: string): Wheel => ({ name: 'yt-dlp-ejs', version, packages: ['yt_dlp_ejs'] })

interface Served {
  name: string
  file: string
  bytes: Buffer
  metadata: string
  /** The sha256 in the index. */
  sha256: string
}

export interface TestIndex {
  url: string
  /** Requested paths. */
  requests: string[]
  publish(...wheels: Wheel[]): Promise<void>
  /** Makes the index list a wrong sha256 for the files of this version. */
  spoil(version: string): void
  withdraw(): void
  /** Makes downloads of packages begin but never end. */
  isEndless: boolean
  /** Number of such downloads that the client has aborted. */
  left: number
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

export async function startTestIndex(scope: Scope): Promise<TestIndex> {
  const folder = await temporaryFolder(scope)
  let served: Served[] = []
  const requests: string[] = []
  const drip = (response: ServerResponse) => {
    const drops = setInterval(() => response.write('.'), 50)
    response.writeHead(200, { 'content-type': 'application/zip' }).once('close', () => {
      clearInterval(drops)
      index.left++
    })
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    requests.push(path)
    const listed = served.filter(({ name }) => path === `/simple/${name}/`)
    const file = served.find((one) => path === `/files/${one.file}`)
    const described = served.find((one) => path === `/files/${one.file}.metadata`)
    if (listed.length > 0) {
      const links = listed.map(
        (one) =>
          `<a href="/files/${one.file}#sha256=${one.sha256}" data-core-metadata="sha256=${sha256(one.metadata)}">${one.file}</a>`,
      )
      return response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${links.join('<br>')}`)
    }
    if (file && index.isEndless) return drip(response)
    if (file) return response.writeHead(200, { 'content-type': 'application/zip' }).end(file.bytes)
    if (described) return response.writeHead(200, { 'content-type': 'text/plain' }).end(described.metadata)
    return response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scope.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const index: TestIndex = {
    isEndless: false,
    left: 0,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple/`,
    requests,
    async publish(...wheels) {
      for (const wheel of wheels) {
        const file = `${wheel.name.replaceAll('-', '_')}-${wheel.version}-py3-none-any.whl`
        await mkdir(folder, { recursive: true })
        const path = join(folder, file)
        const metadata = await make(wheel, path)
        const bytes = await readFile(path)
        served.push({ name: wheel.name, file, bytes, metadata, sha256: sha256(bytes) })
      }
    },
    spoil(version) {
      for (const one of served) if (one.file.includes(`-${version}-`)) one.sha256 = sha256('something else')
    },
    withdraw() {
      served = []
    },
  }
  return index
}

const make = (wheel: Wheel, path: string): Promise<string> =>
  new Promise((resolve, reject) =>
    execFile(join(TOOLS, 'bin/python'), ['-I', '-c', MAKE, JSON.stringify(wheel), path], (error, metadata) =>
      error ? reject(error) : resolve(metadata),
    ),
  )
