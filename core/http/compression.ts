/** When replies are compressed, and how. */
import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

/** A list takes a fifth less time than at level 4, and 3% more bytes. */
const GZIP_LEVEL = 2
/** Compressing shorter texts takes more time than it saves on the wire. */
const GZIP_FROM_CHARACTERS = 8192

const gzipAsync = promisify(gzip)

export const isWorthCompressing = ({ length }: { length: number }): boolean => length > GZIP_FROM_CHARACTERS

export const compressed = (content: string | Buffer): Promise<Buffer> => gzipAsync(content, { level: GZIP_LEVEL })

export const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /(^|[\s,])gzip\s*(,|$|;)/i.test(String(headers['accept-encoding'] ?? '')) &&
  !/gzip\s*;\s*q=0(\.0*)?\s*(,|$)/i.test(String(headers['accept-encoding']))
