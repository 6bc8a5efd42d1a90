/**
 * Fetches a picture of the platform to a file: by ourselves, or by yt-dlp where it has to go another way than usual.
 */
import { createWriteStream } from 'node:fs'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { KeptChild } from './kept-child.ts'
import type { Route } from './network-route.ts'

const LIMIT_BYTES = 10 * 1024 * 1024
const QUIET_MS = 30_000

/** A picture that cannot be had. */
class NoPicture extends Error {}

/** @throws NoPicture, or what the network or the file system says */
export async function fetchDirectly(url: string, to: string, signal: AbortSignal): Promise<void> {
  // A redirect could lead anywhere, also into the private network: the picture is where the platform said, or not at
  // all.
  const response = await fetch(url, { redirect: 'manual', signal })
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel()
    throw new NoPicture(`the answer was ${response.status}`)
  }
  await pipeline(
    Readable.fromWeb(response.body as import('node:stream/web').ReadableStream),
    atMost(LIMIT_BYTES),
    createWriteStream(to),
  )
}

/** What yt-dlp alone knows to go: a proxy, or from an address of ours. @throws ChildError */
export async function fetchByRoute(url: string, to: string, signal: AbortSignal, child: KeptChild): Promise<void> {
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
