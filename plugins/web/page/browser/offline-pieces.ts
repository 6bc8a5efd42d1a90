/** Builds a response from the stored pieces of a film, whole or for a range, as the server would. */
import parseRange from 'range-parser'
import { type OfflineFilm, PIECE_BYTES, pieceAt } from './offline-names.ts'

/**
 * @param film  the full URL
 * @param asked  the request header `Range`
 */
export function answerWith(cache: Cache, film: string, { bytes, type }: OfflineFilm, asked: string | null): Response {
  const headers = { 'accept-ranges': 'bytes', 'content-type': type }
  const ranges = asked === null ? -2 : parseRange(bytes, asked)
  if (ranges === -1)
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${bytes}` } })
  const only = ranges !== -2 && ranges.type === 'bytes' && ranges.length === 1 ? ranges[0] : undefined
  const { start, end } = only ?? { start: 0, end: bytes - 1 }
  return new Response(read(cache, film, start, end), {
    status: only ? 206 : 200,
    headers: {
      ...headers,
      'content-length': String(end - start + 1),
      ...(only && { 'content-range': `bytes ${start}-${end}/${bytes}` }),
    },
  })
}

function read(cache: Cache, film: string, start: number, end: number): ReadableStream<Uint8Array> {
  let at = start
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = await cache.match(pieceAt(film, Math.floor(at / PIECE_BYTES)))
        const from = at % PIECE_BYTES
        const some = piece && (await (await piece.blob()).slice(from, from + end - at + 1).arrayBuffer())
        if (!some?.byteLength) return controller.error(new Error('a piece of the film is missing'))
        at += some.byteLength
        controller.enqueue(new Uint8Array(some))
        if (at > end) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
