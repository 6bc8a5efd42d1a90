/**
 * Encrypts with a passphrase, in the format of age (age-encryption.org/v1), so that `age --decrypt` opens a backup
 * without Archivolt. Each piece is authenticated with its position, and the last one is marked, so that a changed byte,
 * reordered pieces and a missing end are detected.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  type ScryptOptions,
  scrypt,
  timingSafeEqual,
} from 'node:crypto'
import { Transform } from 'node:stream'
import { promisify } from 'node:util'
import { Fault } from './fault.ts'

const VERSION = 'age-encryption.org/v1'
const ALGORITHM = 'chacha20-poly1305'
const TAG_BYTES = 16
const KEY_BYTES = 32
const FILE_KEY_BYTES = 16
const NONCE_BYTES = 12
const PIECE_BYTES = 64 << 10
const SEALED_BYTES = PIECE_BYTES + TAG_BYTES
/** Work factor of scrypt, as a power of two: each guess takes 64 MB of memory and a tenth of a second. */
const WORK = 16
/** Maximum work factor to accept: a larger one would take too much memory. */
const MOST_WORK = 17
const MOST_HEADER_BYTES = 4096
const HEADER = /^age-encryption\.org\/v1\n-> scrypt ([\w+/]{22}) (\d{1,2})\n([\w+/]{43})\n--- ([\w+/]{43})\n/

const scrypted = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const base64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
const derived = (from: Buffer, salt: Buffer | '', info: string): Buffer =>
  Buffer.from(hkdfSync('sha256', from, salt, info, KEY_BYTES))
const macOf = (fileKey: Buffer, text: string): Buffer =>
  createHmac('sha256', derived(fileKey, '', 'header'))
    .update(text)
    .digest()

const wrappingKey = (passphrase: string, salt: Buffer, work: number): Promise<Buffer> =>
  scrypted(passphrase, Buffer.concat([Buffer.from(`${VERSION}/scrypt`), salt]), KEY_BYTES, {
    ...{ N: 2 ** work, r: 8, p: 1, maxmem: 2 ** (work + 11) },
  })

function seal(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** The content; undefined: it was sealed with another key or nonce. */
function unseal(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer | undefined {
  if (sealed.length < TAG_BYTES) return undefined
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}

/** The nonce of a piece: its position, and whether it is the last one. */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(index, NONCE_BYTES - 1 - 6, 6)
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0
  return nonce
}

/**
 * Encrypts the data that is written to it.
 * @param work  work factor of scrypt, as a power of two; only tests choose a smaller one
 */
export async function encrypting(passphrase: string, work = WORK): Promise<Transform> {
  const fileKey = randomBytes(FILE_KEY_BYTES)
  const salt = randomBytes(16)
  const body = seal(await wrappingKey(passphrase, salt, work), Buffer.alloc(NONCE_BYTES), fileKey)
  const header = `${VERSION}\n-> scrypt ${base64(salt)} ${work}\n${base64(body)}\n---`
  const nonce = randomBytes(16)
  const key = derived(fileKey, nonce, 'payload')
  let index = 0
  let waiting: Buffer[] = []
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting.push(chunk)
      bytes += chunk.length
      // The last piece is marked, so one piece is held back until more data has arrived.
      if (bytes > PIECE_BYTES) {
        const all = Buffer.concat(waiting)
        let from = 0
        for (; all.length - from > PIECE_BYTES; from += PIECE_BYTES)
          this.push(seal(key, nonceOf(index++, false), all.subarray(from, from + PIECE_BYTES)))
        waiting = [all.subarray(from)]
        bytes = all.length - from
      }
      done()
    },
    flush(done) {
      this.push(seal(key, nonceOf(index, true), Buffer.concat(waiting)))
      done()
    },
  })
  stream.push(Buffer.concat([Buffer.from(`${header} ${base64(macOf(fileKey, header))}\n`), nonce]))
  return stream
}

/** Whether a file begins like an encrypted one. */
export const isEncrypted = (start: Buffer): boolean => start.toString('latin1').startsWith(`${VERSION}\n`)

/** @throws Fault: `passphrase`, `damaged` */
export async function* decrypted(source: AsyncIterable<Buffer>, passphrase: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  let key: Buffer | undefined
  let index = 0
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk])
    if (!key) {
      const opened = await openHeader(rest, passphrase)
      if (!opened) continue
      key = opened.key
      rest = rest.subarray(opened.bytes)
    }
    let from = 0
    for (; rest.length - from > SEALED_BYTES; from += SEALED_BYTES)
      yield opened(unseal(key, nonceOf(index++, false), rest.subarray(from, from + SEALED_BYTES)))
    rest = rest.subarray(from)
  }
  yield opened(key && unseal(key, nonceOf(index, true), rest))
}

function opened(plain: Buffer | undefined): Buffer {
  if (!plain) throw new Fault('damaged')
  return plain
}

/** The key and the length of the header; undefined: more of the file is needed. @throws Fault */
async function openHeader(start: Buffer, passphrase: string): Promise<{ key: Buffer; bytes: number } | undefined> {
  const text = start.toString('latin1', 0, MOST_HEADER_BYTES)
  const [header, salt = '', work, body = '', mac = ''] = HEADER.exec(text) ?? []
  if (header === undefined || start.length < header.length + 16) {
    if (start.length < MOST_HEADER_BYTES) return undefined
    throw new Fault('damaged')
  }
  if (Number(work) < 1 || Number(work) > MOST_WORK) throw new Fault('damaged')
  const wrapping = await wrappingKey(passphrase, Buffer.from(salt, 'base64'), Number(work))
  const fileKey = unseal(wrapping, Buffer.alloc(NONCE_BYTES), Buffer.from(body, 'base64'))
  if (!fileKey) throw new Fault('passphrase')
  const expected = macOf(fileKey, header.slice(0, header.lastIndexOf('---') + 3))
  const given = Buffer.from(mac, 'base64')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Fault('damaged')
  const nonce = start.subarray(header.length, header.length + 16)
  return { key: derived(fileKey, nonce, 'payload'), bytes: header.length + 16 }
}
