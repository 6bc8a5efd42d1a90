/** Youtarr's own backup, as its script creates it, and other archives with its name. */
import assert from 'node:assert/strict'
import { mkdir, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Headers, pack } from 'tar-stream'
import { filesNear } from '../../../plugins/adoption/catalogs/find-files.ts'
import { openNotes, readCatalogs } from '../../../plugins/adoption/catalogs/notes.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { infoOf } from '../../support/ytdlp-folder.ts'

const [FERRY, COMET] = ['ferryFerry1', 'cometComet1'] as const
const TOP = 'youtarr-backup-20240601-120000'
const NAME = `${TOP}.tar.gz`

type Entry = readonly [header: Partial<Headers>, content?: string | Buffer]

async function tarOf(...entries: Entry[]): Promise<Buffer> {
  const tar = pack()
  const bytes = buffer(tar as unknown as AsyncIterable<Uint8Array>)
  for (const [header, content = ''] of entries) tar.entry({ name: '', ...header }, content)
  tar.finalize()
  return bytes
}
const backup = async (...entries: Entry[]): Promise<Buffer> => gzipSync(await tarOf(...entries))
const at = (name: string, content: string | Buffer): Entry => [{ name: `${TOP}/${name}` }, content]
const info = (id: string, changes = {}): Entry => at(`jobs/info/${id}.info.json`, JSON.stringify(infoOf(id, changes)))

const dump = (title: string) => `
CREATE TABLE \`Videos\` (
  \`id\` int(11),
  \`youtubeId\` varchar(255),
  \`youTubeVideoName\` varchar(255),
  \`filePath\` varchar(255),
  \`protected\` tinyint(1)
);
INSERT INTO \`Videos\` VALUES (1,'${FERRY}','${title}','/usr/src/app/data/Harbour/Ferry.mp4',1);
`

async function aPlace(given: Parameters<typeof lastFirst>[0], files: Record<string, string | Buffer>) {
  const scope = lastFirst(given)
  const [root, own] = [await temporaryFolder(scope), await temporaryFolder(scope)]
  const place = join(root, 'data')
  await mkdir(place)
  for (const [path, content] of Object.entries(files)) await lay(root)(path, content)
  const read = () => readCatalogs(place, [root], filesNear(place, [root]), own)
  const told = (name: string) => {
    const notes = openNotes(own, place, [root])
    const base = name.replace(/\.[^.]+$/, '')
    const file = { folder: 'Harbour', name, base, ending: 'mp4' as const, sizeBytes: 1, changedMs: 1, subtitles: [] }
    const listed = notes.of(file)
    notes.end()
    return listed
  }
  return { root, own, read, told }
}

test('its backup identifies films by its dump and by the information files in it', async (t) => {
  const { root, read, told } = await aPlace(t, {
    'data/Harbour/Ferry.mp4': 'x',
    [NAME]: await backup(
      at('manifest.json', '{"version":"1.0"}'),
      at('database/youtarr.sql', dump('Ferry by the dump')),
      at('config/complete.list', `youtube ${FERRY}\n`),
      info(FERRY),
      info(COMET, { id: FERRY, title: 'of another video' }),
      at('jobs/info/.info.json', '['),
    ),
  })
  await lay(root)('youtarr.sql', dump('Ferry by an older dump'))
  await utimes(join(root, 'youtarr.sql'), 1_700_000_000, 1_700_000_000)

  const { read: found, faults } = await read()

  assert.deepEqual([found?.kind, found?.films, found?.share, faults], ['youtarr', 1, 1, []])
  assert.deepEqual(found?.map, { from: '/usr/src/app/data/', to: '' })
  assert.deepEqual(found?.along, [{ kind: 'keep', owner: '', count: 1 }])
  const ferry = told('Ferry.mp4')
  const { title, channel_id: channel, description } = ferry!.info
  assert.deepEqual(
    [ferry?.id, ferry?.isStored, title, channel, description],
    [FERRY, true, 'Ferry by the dump', infoOf(FERRY)['channel_id'], infoOf(FERRY)['description']],
  )

  await rm(join(root, NAME))
  await read()
  assert.equal(told('Ferry.mp4')?.info['title'], 'Ferry by an older dump')
})

test('without a dump in it the names of films contain the ids', async (t) => {
  const { read, told } = await aPlace(t, {
    'data/Harbour/x': '',
    [NAME]: await backup(info(FERRY), info(COMET)),
  })
  assert.equal((await read()).read?.films, 2)
  const comet = told(`Comet [${COMET}].mp4`)
  assert.deepEqual([comet?.id, comet?.info['title']], [COMET, infoOf(COMET)['title']])
})

/** An entry with an overlong name, whose size is in its header. */
async function endlessName(): Promise<Buffer> {
  const tar = await tarOf([{ name: 'x' }, Buffer.from(Array.from({ length: 4 << 20 }, (_, n) => (n * 7919) % 251))])
  tar[156] = 'L'.charCodeAt(0)
  tar.fill(' ', 148, 156)
  const sum = tar.subarray(0, 512).reduce((all, byte) => all + byte, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return gzipSync(tar)
}

const OUTSIDE = '../../../outside'
for (const [what, bytes, why] of [
  ['that is none', async () => Buffer.from('nothing'), /damaged/],
  ['that was cut off', async () => (await backup(at('database/youtarr.sql', dump('x')))).subarray(0, 120), /damaged/],
  [
    'that unpacks to very much',
    () => backup(at('manifest.json', Buffer.alloc(64 << 20))),
    /more data than its size suggests/,
  ],
  ['with a name without end', endlessName, /more data than its size suggests/],
  ['of something else', () => backup(at('holiday.jpg', 'x')), /neither a dump/],
  [
    'of links, devices and ways out',
    () =>
      backup(
        [{ name: `${TOP}/database/youtarr.sql`, type: 'symlink', linkname: '/etc/passwd' }],
        [{ name: `${TOP}/jobs/info/${FERRY}.info.json`, type: 'link', linkname: OUTSIDE }],
        [{ name: `${TOP}/config/config.json`, type: 'character-device' }],
        [{ name: `${OUTSIDE}/database/youtarr.sql` }, dump('x')],
        [{ name: '/database/youtarr.sql' }, dump('x')],
      ),
    /neither a dump/,
  ],
] as const)
  test(`a backup ${what} is reported, and nothing of it is written to the disk`, async (t) => {
    const { root, own, read } = await aPlace(t, { 'data/Harbour/Ferry.mp4': 'x', [NAME]: await bytes() })
    const { read: found, faults } = await read()
    assert.equal(found, undefined)
    assert.deepEqual(
      faults.map(({ code, path }) => [code, path.split('/').at(-1)]),
      [['unreadable_catalog', NAME]],
    )
    assert.match(String(faults[0]!.why), why)
    assert.deepEqual([await readdir(own), (await readdir(root)).sort()], [[], ['data', NAME]])
  })

test('playlists are imported with their members in order, whichever table comes first, and active ones are offered', async (t) => {
  const lists = `
CREATE TABLE \`playlistvideos\` (
  \`id\` int,
  \`playlist_id\` varchar(64),
  \`youtube_id\` varchar(11),
  \`position\` int,
  \`ignored\` int
);
INSERT INTO \`playlistvideos\` VALUES (1,'PLcoast','${COMET}',2,0),(2,'PLcoast','${FERRY}',1,1),(3,'7','${FERRY}',NULL,0),
(4,'PLgone','${FERRY}',0,0),(5,'PLcoast',NULL,0,0);
CREATE TABLE \`playlists\` (
  \`id\` int,
  \`playlist_id\` varchar(64),
  \`title\` varchar(255),
  \`enabled\` int,
  \`auto_download\` int
);
INSERT INTO \`playlists\` VALUES (6,'PLcoast','The coast',1,1),(7,'PLquiet','Quiet',1,0),(8,'PLempty','Empty',1,0);
`
  const { own, root, read } = await aPlace(t, {
    'data/Harbour/Ferry.mp4': 'x',
    'youtarr.sql': lists + dump('The ferry'),
  })

  await read()

  const notes = openNotes(own, join(root, 'data'), [root])
  const told = notes.along(0, 10).map(({ one }) => one)
  notes.end()
  const ferry = { id: FERRY, title: 'The ferry' }
  assert.deepEqual(told, [
    { kind: 'keep', id: FERRY },
    { kind: 'playlist', id: 'PLcoast', name: 'The coast' },
    { kind: 'platform_list', id: 'PLcoast', name: 'The coast', entries: [ferry, { id: COMET, title: '' }] },
    { kind: 'platform_list', id: 'PLquiet', name: 'Quiet', entries: [ferry] },
  ])
})
