/** A small npm registry on loopback: npm can install what is published to it. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Scope } from './last-first.ts'

export interface PackageFile extends Record<string, unknown> {
  name: string
  version: string
}

export interface NpmRegistry {
  url: string
  /**
   * Packs the files as npm does, and publishes them as the newest version.
   * @returns the tarball
   */
  publish(packageFile: PackageFile, files: Record<string, string>): Promise<string>
}

export async function npmRegistry(scope: Scope, folder: string): Promise<NpmRegistry> {
  const versions = new Map<string, Map<string, object>>()
  const tarballs = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!.slice(1))
    const tarball = tarballs.get(path)
    const found = versions.get(path)
    if (tarball) response.end(tarball)
    else if (found)
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          name: path,
          'dist-tags': { latest: [...found.keys()].at(-1) },
          versions: Object.fromEntries(found),
        }),
      )
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
  }).listen(0, '127.0.0.1')
  scope.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    url,
    async publish(packageFile, files) {
      const { name, version } = packageFile
      const file = `${name.replace('/', '+')}-${version}.tgz`
      const source = join(folder, `${name.replace('/', '+')}-${version}`)
      for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(packageFile) })) {
        await mkdir(dirname(join(source, path)), { recursive: true })
        await writeFile(join(source, path), text)
      }
      const { stdout } = await promisify(execFile)('npm', ['pack', '--json', '--ignore-scripts', source], {
        cwd: folder,
      })
      const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
      const packed = await readFile(join(folder, filename))
      tarballs.set(file, packed)
      const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`
      const known = versions.get(name) ?? new Map<string, object>()
      versions.set(name, known.set(version, { ...packageFile, dist: { tarball: `${url}${file}`, integrity } }))
      return join(folder, filename)
    },
  }
}
