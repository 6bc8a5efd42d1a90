/** Writes an application-specific atom at the end of the head of an mp4, as that application's library does. */
import { readFile, writeFile } from 'node:fs/promises'

export const box = (name: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, body])
}
/** With a 64-bit size, as in films of more than 4 GB. */
export const boxOf64 = (name: string, body: Buffer): Buffer => {
  const head = box(name, Buffer.alloc(8), body)
  head.writeUInt32BE(1)
  head.writeBigUInt64BE(BigInt(head.length), 8)
  return head
}
const none = (count: number): Buffer => Buffer.alloc(count)
const IS_TEXT = Buffer.from([0, 0, 0, 1])

export function tagsOf(mean: string, name: string, text: string): Buffer {
  const value = box('data', IS_TEXT, none(4), Buffer.from(text))
  const atom = box('----', box('mean', none(4), Buffer.from(mean)), box('name', none(4), Buffer.from(name)), value)
  const handler = box('hdlr', none(8), Buffer.from('mdirappl', 'latin1'), none(9))
  return box('udta', box('meta', none(4), handler, box('ilst', atom)))
}

/** For a film without tags whose head is at the end of the file. */
export async function writeAtom(path: string, mean: string, name: string, text: string): Promise<void> {
  const film = await readFile(path)
  const at = film.indexOf('moov', 0, 'latin1') - 4
  const tags = tagsOf(mean, name, text)
  film.writeUInt32BE(film.readUInt32BE(at) + tags.length, at)
  if (at + film.readUInt32BE(at) !== film.length + tags.length) throw new Error('its head does not stand at its end')
  await writeFile(path, Buffer.concat([film, tags]))
}
