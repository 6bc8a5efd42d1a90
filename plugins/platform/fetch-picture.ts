/** Downloads a picture of the platform to a file: directly, or with yt-dlp if a special network route is set. */
import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Route } from './network-route.ts'
import type { SharedChild } from './shared-child.ts'

const LIMIT_BYTES = 10 * 1024 * 1024
const QUIET_MS = 30_000

/** The picture is not available. */
class NoPicture extends Error {}

/** @throws NoPicture, or an error of the network or the file system */
export async function fetchDirectly(url: string, to: string, signal: AbortSignal): Promise<void> {
  // Redirects are not followed: they could lead anywhere, even into a private network.
  const response = await fetch(url, { redirect: 'manual', signal })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new NoPicture(`the answer has status ${response.status}`)
  }
  await pipeline(
    Readable.fromWeb(response.body as import('node:stream/web').ReadableStream),
    atMost(LIMIT_BYTES),
    createWriteStream(to),
  )
}

/** Downloads over routes that only yt-dlp supports: a proxy, or a source address. @throws ChildError */
export async function fetchByRoute(url: string, to: string, signal: AbortSignal, child: SharedChild): Promise<void> {
  await child.ask({ op: 'picture', url, path: to, most: LIMIT_BYTES }, { signal, quietMs: QUIET_MS, isSignedIn: false })
}

export const isUsualWay = ({ proxy, sourceAddress, ipVersion }: Route): boolean =>
  proxy === undefined && sourceAddress === undefined && ipVersion === undefined

function atMost(bytes: number): Transform {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      done(seen > bytes ? new NoPicture('it is larger than 10 MB') : null, chunk)
    },
  })
}
