/** Faces through the API: the content of the folder after events in the archive. */
import assert from 'node:assert/strict'
import { link, lstat, mkdir, readdir, readFile, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, aPlaylist, type TestApp, testApp } from '../../support/testing.ts'
import { type Coming, comeIn, lay } from './coming.ts'
import '../../support/slow.ts'

interface Face {
  archive: TestApp
  root: string
  id: number
  /** Paths below the root, sorted, without hidden ones. */
  tree(): Promise<string[]>
  read(path: string): Promise<string>
  /** Adds a film as a download does. */
  add(video: Coming): Promise<void>
  remove(id: string): Promise<void>
  shown(): Promise<any>
}

async function given(t: TestContext, body: object = {}): Promise<Face> {
  const archive = await testApp(t)
  await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
  const root = join(archive.dataDir, 'faces', 'tv')
  const reply = await archive
    .as('admin')
    .post('/api/face/', { name: 'TV', root, form: 'shows', selection: {}, ...body })
  assert.equal(reply.status, 200, reply.text)
  await archive.settled()
  return {
    archive,
    root,
    id: reply.body.id,
    tree: () => treeOf(root),
    read: (path) => readFile(join(root, path), 'utf8'),
    add: (video) => comeIn(archive, video),
    async remove(id) {
      assert.equal((await archive.as('admin').delete(`/api/video/${id}/`)).status, 200)
      await archive.settled()
    },
    shown: async () => (await archive.as('admin').get('/api/face/')).body.faces[0],
  }
}

async function treeOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .filter((path) => !path.startsWith('.archivolt-face'))
    .sort()
}

const S = 'Boats [UC1]'

test('one face is updated alone', async (t) => {
  const { archive, id } = await given(t)

  await archive.as('admin').post(`/api/face/${id}/`, { command: 'update' })
  await archive.settled()

  const [task] = (await archive.as('admin').get('/api/task-name/update_faces/')).body
  assert.deepEqual([task.status, task.kwargs], ['SUCCESS', { face: id }])
})

test('simultaneous changes of a face all apply', async (t) => {
  const { archive, id, shown } = await given(t)
  const { faces } = archive.app

  await Promise.all([{ name: 'Den' }, { isOn: false }, { takesBack: false }].map((one) => faces.change(id, one)))

  const { name, is_on, takes_back } = await shown()
  assert.deepEqual([name, is_on, takes_back], ['Den', false, false])
})

test('a new video is linked, numbered and described, and is the same file', async (t) => {
  const face = await given(t)

  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })

  const film = `${S}/Season 2026/S2026E1 - To sea [v1].mp4`
  assert.deepEqual(await face.tree(), [
    `${S}/Season 2026/S2026E1 - To sea [v1].mp4`,
    `${S}/Season 2026/S2026E1 - To sea [v1].nfo`,
    `${S}/Season 2026/season.nfo`,
    `${S}/tvshow.nfo`,
  ])
  const own = await lstat(face.archive.app.media.pathOf('UC1', 'v1'))
  assert.equal((await lstat(join(face.root, film))).ino, own.ino)
  assert.match(await face.read(`${S}/tvshow.nfo`), /<uniqueid type="Custom">UC1<\/uniqueid>/)
  assert.match(await face.read(film.replace('.mp4', '.nfo')), /<season>2026<\/season>\n<episode>1<\/episode>/)
  assert.deepEqual((await face.shown()).state.links, { hard: 1 })
})

test('a removed video disappears at once, with its empty season and show, and its bytes are free', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', published: '2026-01-02' })
  await face.add({ id: 'v2', published: '2025-01-02' })

  await face.remove('v1')
  assert.deepEqual(
    (await face.tree()).filter((path) => path.includes('2026')),
    [],
  )
  await face.remove('v2')

  assert.deepEqual(await readdir(face.root), ['.archivolt-face'])
})

test('rules and storage count hard links of faces as freed, because these are removed with their video, but not other links', async (t) => {
  const face = await given(t)
  const { archive } = face
  const admin = archive.as('admin')
  const files = await admin.post('/api/face/', {
    ...{ name: 'Files', root: join(archive.dataDir, 'faces', 'files'), form: 'files', selection: {} },
  })
  assert.equal(files.status, 200, files.text)
  for (const id of ['v1', 'v2']) await face.add({ id, media_size: 1000 })
  await link(archive.app.media.pathOf('UC1', 'v2'), join(archive.dataDir, 'elsewhere.mp4'))
  for (const id of ['v1', 'v2']) await admin.post('/api/watched/', { id, is_watched: true })
  const scope = { kind: 'channel', id: 'UC1' }
  await admin.post('/api/rule/', { side: 'keep', scope, conditions: {}, outcome: 'remove' })
  const freed = async () => {
    const { body: preview } = await admin.post('/api/rule/preview/', {})
    const { body } = await admin.get(`/api/rule/preview/${preview.id}/row/?outcome=remove`)
    const { body: proposals } = await admin.get('/api/storage/proposal/')
    return {
      rules: body.rows.map((row: any) => [row.video_id, row.freed, row.note]).sort(),
      storage: proposals.map((one: any) => one.platform_id),
    }
  }

  assert.deepEqual(await freed(), {
    rules: [
      ['v1', 1000, undefined],
      ['v2', 0, 'linked'],
    ],
    storage: ['v1'],
  })

  await admin.post(`/api/face/${face.id}/`, { is_on: false })
  assert.deepEqual((await freed()).storage, [], 'a face that is off keeps its links')
})

test('numbers follow the date of publication and never change: a late addition gets the next one', async (t) => {
  const face = await given(t)
  const { archive } = face
  await lay(archive, { id: 'v2', title: 'v2', published: '2026-03-01' })
  await lay(archive, { id: 'v1', title: 'v1', published: '2026-02-01' })
  await archive.app.jobs.start('update_faces')
  await archive.settled()
  await face.add({ id: 'v0', title: 'v0', published: '2026-01-01' })
  await face.remove('v1')
  await face.add({ id: 'v1', title: 'v1', published: '2026-02-01' })

  assert.deepEqual(
    (await face.tree()).filter((path) => path.endsWith('.mp4')).map((path) => path.split('/').at(-1)),
    ['S2026E1 - v1 [v1].mp4', 'S2026E2 - v2 [v2].mp4', 'S2026E3 - v0 [v0].mp4'],
  )
})

test('any sequence of changes ends with the tree of a new face', async (t) => {
  const face = await given(t)
  const { archive } = face
  const admin = archive.as('admin')
  let seed = 5
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below
  const titles = ['S2E5-E6', 'a/b: c?', 'To sea', '- trailer', '..', '4x4-6', '日本語'.repeat(40), '[x] <y>']
  await archive.given(aChannel({ id: 'UC2', channel_name: 'Boats' }))
  for (let step = 0; step < 60; step++) {
    const [id, channelId] = [`v${random(12)}`, `UC${1 + random(2)}`]
    const known = await archive.app.videos.get(id)
    const kind = random(6)
    if (kind <= 2 && !known)
      await comeIn(archive, {
        id,
        channelId,
        title: titles[random(8)]!,
        published: `202${random(3)}-0${1 + random(9)}-01`,
      })
    else if (kind === 3 && known) await face.remove(id)
    else if (kind === 4 && known) {
      await archive.app.videos.change(id, { set: { title: titles[random(8)]!, published: `202${random(3)}-05-05` } })
      await archive.app.emit('video.changed', { id, what: 'metadata' })
    } else if (kind === 5) {
      await archive.app.channels.collection.patch(channelId, { set: { channel_name: titles[random(8)]! } })
      await archive.app.emit('channel.renewed', { id: channelId })
      if (step % 9 === 0) {
        const form = ['shows', 'files'][random(2)]
        await admin.post(`/api/face/${face.id}/`, {
          form,
          template: ['{channel}/{title} [{id}]', '{year}/{id}'][random(2)],
        })
      }
    }
  }
  await archive.settled()

  const { form, template } = await face.shown()
  const root = join(archive.dataDir, 'faces', 'fresh')
  const fresh = await admin.post('/api/face/', { name: 'Fresh', root, form, template, selection: {} })
  assert.equal(fresh.status, 200, fresh.text)
  await archive.settled()

  const [one, other] = [await treeOf(face.root), await treeOf(root)]
  assert.deepEqual(one, other)
  assert.ok(one.length > 10)
  for (const path of one)
    assert.deepEqual(await readFile(join(face.root, path)), await readFile(join(root, path)), path)
  assert.equal((await face.shown()).state.problems, undefined)
})

test('a full render without changes changes nothing, and repairs what somebody has deleted or renamed', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })
  const before = await face.tree()
  const again = async () => {
    await face.archive.app.jobs.start('update_faces')
    await face.archive.settled()
    return (await face.shown()).state
  }
  assert.equal((await again()).changed, 0)

  const film = join(face.root, before[0]!)
  await rename(film, `${film}.old`)
  await unlink(join(face.root, `${S}/tvshow.nfo`))
  assert.equal((await again()).changed, 2)

  assert.deepEqual(
    (await face.tree()).filter((path) => !path.endsWith('.old')),
    before,
  )
  assert.ok((await face.tree()).includes(`${before[0]}.old`), 'what is not ours stays')
})

test('another program’s changes of an NFO file are reverted, or kept and reported, as configured', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })
  const nfo = `${S}/Season 2026/S2026E1 - To sea [v1].nfo`
  const ours = await face.read(nfo)
  const spoilt = async () => {
    await writeFile(join(face.root, nfo), '<episodedetails><watched>true</watched></episodedetails>')
    await face.archive.app.jobs.start('update_faces')
    await face.archive.settled()
    return face.read(nfo)
  }
  assert.equal(await spoilt(), ours)

  await face.archive.as('admin').post(`/api/face/${face.id}/`, { takes_back: false })
  await face.archive.settled()
  assert.match(await spoilt(), /watched/)

  assert.deepEqual((await face.shown()).state.problems, [
    { path: nfo, reason: 'Another program has changed this file, so it stays as it is' },
  ])
})

test('a foreign file in the way stays, and is reported', async (t) => {
  const face = await given(t)
  const path = `${S}/Season 2026/S2026E1 - To sea [v1].mp4`
  await mkdir(dirname(join(face.root, path)), { recursive: true })
  await writeFile(join(face.root, path), 'mine')

  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })
  assert.deepEqual((await face.shown()).state.problems, [
    { path, reason: 'A file that Archivolt did not create is in the way; move it elsewhere' },
  ])
  await face.remove('v1')

  assert.equal(await face.read(path), 'mine')
})

test('a file that somebody has put in place of a link is not removed', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })
  const path = `${S}/Season 2026/S2026E1 - To sea [v1].mp4`
  await rm(join(face.root, path))
  await writeFile(join(face.root, path), 'mine')

  await face.remove('v1')

  assert.equal(await face.read(path), 'mine')
})

test('a folder that is missing, or was replaced, is not filled until it is accepted', async (t) => {
  const face = await given(t)
  await rename(face.root, `${face.root}.away`)
  await mkdir(face.root)

  await face.add({ id: 'v1', published: '2026-01-02' })
  assert.deepEqual(await readdir(face.root), [])
  assert.match((await face.shown()).state.error, /is missing or is a different one/)

  await face.archive.as('admin').post(`/api/face/${face.id}/`, { command: 'accept' })
  await face.archive.settled()
  assert.equal((await face.tree()).length, 4)
  assert.equal((await face.shown()).state.error, undefined)
})

test('invalid roots and templates are refused, each with a sentence', async (t) => {
  const face = await given(t)
  const { archive } = face
  const admin = archive.as('admin')
  const at = (...parts: string[]) => join(archive.dataDir, ...parts)
  const add = async (body: object) => {
    const whole = { name: 'Other', root: at('faces', 'other'), form: 'files', selection: {}, ...body }
    const { status, body: said } = await admin.post('/api/face/', whole)
    return [status, said.error]
  }
  await mkdir(at('media'), { recursive: true })
  await mkdir(at('faces'), { recursive: true })
  await symlink(at('media'), at('faces', 'link'))
  await writeFile(at('faces', 'file'), '')

  assert.deepEqual(await add({ root: 'faces' }), [400, 'root must be an absolute path'])
  for (const [root, status, said] of [
    ['/etc', 422, /may not write to .*AV_FACE_ROOTS=/],
    [at('media'), 422, /may not write/],
    [at('faces', '..', 'media', 'x'), 422, /may not write/],
    [at('faces', 'link'), 422, /may not write/],
    [at('faces', 'tv', 'below'), 409, /overlap/],
    [at('faces'), 409, /overlap/],
    [at('faces', 'file'), 422, /cannot be written \(EEXIST\)/],
  ] as const) {
    const [code, sentence] = await add({ root })
    assert.equal(code, status, `${root}: ${sentence}`)
    assert.match(sentence, said)
  }
  for (const [template, said] of [
    ['{title}', /must contain \{id\} in the name of the file/],
    ['{id}/{title}', /must contain \{id\}/],
    ['../{id}', /no empty folders/],
    ['/{id}', /no empty folders/],
    ['a//{id}', /no empty folders/],
    ['{uploader} {id}', /not \{uploader\}/],
  ] as const) {
    const [status, sentence] = await add({ template })
    assert.equal(status, 400)
    assert.match(sentence, said)
  }
  const [status] = await add({ selection: { account: 99 } })
  assert.equal(status, 409)
})

test('films are placed by the template, and no value escapes from the folder', async (t) => {
  const face = await given(t, { form: 'files', template: '{channel}/{year}/{date} {title} [{id}]' })

  await face.add({ id: 'v1', title: '../../etc/passwd', published: '2026-01-02' })
  await face.add({ id: 'v2', title: '日本語'.repeat(80), published: '2026-01-03' })

  const [one, two] = await face.tree()
  assert.equal(one, 'Boats/2026/2026-01-02 ⁄..⁄etc⁄passwd [v1].mp4')
  assert.ok(Buffer.byteLength(two!.split('/').at(-1)!) <= 255)
  assert.match(two!, /^Boats\/2026\/2026-01-03 日本語.*\[v2\]\.mp4$/)
})

test('a video that is restored from the bin returns at once, with its number', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })
  await face.add({ id: 'v2', title: 'Ashore', published: '2026-01-03' })
  const before = await face.tree()
  await face.remove('v1')
  assert.equal((await face.tree()).length, before.length - 2)

  const reply = await face.archive.as('admin').post('/api/bin/restore/', { all: true })
  await face.archive.settled()

  assert.deepEqual(reply.body, { restored: 1, refused: [] })
  assert.deepEqual(await face.tree(), before)
})

test('a face shows its selection, within the view of its account', async (t) => {
  const archive = await testApp(t)
  await archive.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  const admin = archive.as('admin')
  const child = await archive.app.accounts.create({
    username: 'child',
    password: 'a password for tests',
    isStaff: false,
    view: { channel: ['UC2'] },
  } as never)
  const faces: string[] = []
  for (const [name, selection] of Object.entries({
    all: {},
    one: { channels: ['UC1'] },
    child: { account: child.id },
    unwatched: { account: 1, watched: false },
  })) {
    const root = join(archive.dataDir, 'faces', name)
    faces.push(root)
    const reply = await admin.post('/api/face/', { name, root, form: 'files', template: '{id}', selection })
    assert.equal(reply.status, 200, reply.text)
  }
  await comeIn(archive, { id: 'v1', channelId: 'UC1' })
  await comeIn(archive, { id: 'v2', channelId: 'UC2' })
  await admin.post('/api/watched/', { id: 'v1', is_watched: true })
  await archive.settled()
  await archive.app.jobs.start('update_faces')
  await archive.settled()

  assert.deepEqual(await Promise.all(faces.map(treeOf)), [['v1.mp4', 'v2.mp4'], ['v1.mp4'], ['v2.mp4'], ['v2.mp4']])
})

test('a face follows the view of its account, and the groups in it', async (t) => {
  const archive = await testApp(t)
  await archive.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  const admin = archive.as('admin')
  for (const channelId of ['UC1', 'UC2']) await lay(archive, { id: `v${channelId}`, channelId })
  const group = (await admin.post('/api/group/', { name: 'Boats', members: [{ kind: 'channel', id: 'UC1' }] })).body.id
  const roots: string[] = []
  const accounts: number[] = []
  for (const [username, view] of Object.entries({ one: { group: [`${group}`] }, other: { not_group: [`${group}`] } })) {
    const { status, body, text } = await admin.post('/api/user/', { username, password: 'a password for tests', view })
    assert.equal(status, 200, text)
    const root = join(archive.dataDir, 'faces', username)
    const face = { name: username, root, form: 'files', template: '{id}', selection: { account: body.id } }
    assert.equal((await admin.post('/api/face/', face)).status, 200)
    roots.push(root)
    accounts.push(body.id)
  }
  const trees = async () => {
    await archive.settled()
    return Promise.all(roots.map(treeOf))
  }
  assert.deepEqual(await trees(), [['vUC1.mp4'], ['vUC2.mp4']])

  await admin.post(`/api/group/${group}/`, { members: [{ kind: 'channel', id: 'UC2' }] })
  assert.deepEqual(await trees(), [['vUC2.mp4'], ['vUC1.mp4']])

  await admin.post(`/api/user/${accounts[0]}/`, { view: { channel: ['UC1'] } })
  assert.deepEqual(await trees(), [['vUC1.mp4'], ['vUC1.mp4']])
})

test('for a channel of which its account sees only single videos, a face has id and name alone', async (t) => {
  const archive = await testApp(t)
  const channel_description = 'Seven seas'
  await archive.given(
    aChannel({ id: 'UC1', channel_name: 'Boats', channel_description, channel_tags: ['sailing'] }),
    aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1', downloaded: true }] }),
  )
  await lay(archive, { id: 'v1', title: 'To sea', published: '2026-01-02', playlist: ['PL1'] })
  for (const kind of ['channel_thumb', 'channel_tvart', 'channel_banner'] as const) {
    const path = archive.app.media.artPathOf(kind, 'UC1')
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, kind)
  }
  const admin = archive.as('admin')
  const view = { channel: ['UC1'], playlist: ['PL1'] }
  const account = (await admin.post('/api/user/', { username: 'child', password: 'a password for tests', view })).body
    .id
  const root = join(archive.dataDir, 'faces', 'tv')
  await admin.post('/api/face/', { name: 'TV', root, form: 'shows', selection: { account } })
  const shown = async () => {
    await archive.settled()
    return { tree: await treeOf(root), nfo: await readFile(join(root, `${S}/tvshow.nfo`), 'utf8') }
  }
  const before = await shown()
  assert.equal(before.tree.filter((path) => path.endsWith('.jpg')).length, 5)
  assert.match(before.nfo, /Seven seas.*sailing/s)

  for (const view of [{ playlist: ['PL1'] }, { not_channel: ['UC1'], playlist: ['PL1'] }]) {
    assert.equal((await admin.post(`/api/user/${account}/`, { view })).status, 200)
    const { tree, nfo } = await shown()
    assert.deepEqual(
      tree,
      before.tree.filter((path) => !path.endsWith('.jpg')),
    )
    assert.match(nfo, /<title>Boats<\/title>/)
    assert.doesNotMatch(nfo, /Seven seas|sailing/)
  }
  await admin.post(`/api/user/${account}/`, { view })
  assert.deepEqual(await shown(), before)
})

test('a face has no file for a playlist that its account does not see', async (t) => {
  const archive = await testApp(t)
  const entries = [{ platform_id: 'v1', downloaded: true }]
  await archive.given(
    ...['UC1', 'UC2'].map((id) => aChannel({ id })),
    aPlaylist({ id: 'PL1', playlist_name: 'Boats', playlist_channel_id: 'UC1', entries }),
    aPlaylist({ id: 'PL2', playlist_name: 'Storms', playlist_channel_id: 'UC2', entries }),
  )
  const video = { id: 'v1', playlist: ['PL1', 'PL2'] }
  await lay(archive, video)
  const admin = archive.as('admin')
  const child = { username: 'child', password: 'a password for tests', view: { not_channel: ['UC2'] } }
  const account = (await admin.post('/api/user/', child)).body.id
  const root = join(archive.dataDir, 'faces', 'tv')
  await admin.post('/api/face/', { name: 'TV', root, form: 'files', template: '{id}', selection: { account } })
  const lists = async () => {
    await archive.settled()
    return (await treeOf(root)).filter((path) => path.endsWith('.m3u8'))
  }
  const [boats, storms] = ['Boats [PL1].m3u8', 'Storms [PL2].m3u8']

  assert.deepEqual(await lists(), [boats])
  await comeIn(archive, video)
  assert.deepEqual(await lists(), [boats], 'nor after a change of its video')
  for (const [view, shown] of [
    [{ channel: ['UC1'] }, []],
    [{ channel: ['UC1'], playlist: ['PL2'] }, [storms]],
    [{ not_channel: ['UC2'], playlist: ['PL2'] }, [boats, storms]],
  ] as const) {
    assert.equal((await admin.post(`/api/user/${account}/`, { view })).status, 200)
    assert.deepEqual(await lists(), shown)
  }
})

test('a face shows its groups with the rest of its selection, and follows their changes', async (t) => {
  const archive = await testApp(t)
  await archive.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }), aChannel({ id: 'UC3' }))
  const admin = archive.as('admin')
  for (const channelId of ['UC1', 'UC2', 'UC3']) await lay(archive, { id: `v${channelId}`, channelId })
  const groupOf = async (name: string, ids: string[]): Promise<number> => {
    const members = ids.map((id) => ({ kind: 'channel', id }))
    return (await admin.post('/api/group/', { name, members })).body.id
  }
  const [boats, empty] = [await groupOf('Boats', ['UC1']), await groupOf('Empty', [])]
  const root = join(archive.dataDir, 'faces', 'tv')
  const face = { name: 'TV', root, form: 'files', template: '{id}', selection: { groups: [boats, empty] } }
  const { id } = (await admin.post('/api/face/', face)).body
  const path = `/api/face/${id}/`
  const shown = async () => {
    await archive.settled()
    return treeOf(root)
  }
  assert.deepEqual(await shown(), ['vUC1.mp4'])
  await comeIn(archive, { id: 'v2', channelId: 'UC1' })
  await comeIn(archive, { id: 'v3', channelId: 'UC3' })
  assert.deepEqual(await shown(), ['v2.mp4', 'vUC1.mp4'])

  await admin.post(`/api/group/${boats}/`, { members: [{ kind: 'channel', id: 'UC2' }] })
  assert.deepEqual(await shown(), ['vUC2.mp4'])
  await admin.post(path, { selection: { groups: [empty], channels: ['UC1'] } })
  assert.deepEqual(await shown(), ['v2.mp4', 'vUC1.mp4'])
  await admin.post(path, { selection: { groups: [empty] } })
  assert.deepEqual(await shown(), [])

  await admin.post(path, { selection: { groups: [boats] } })
  await archive.settled()
  await comeIn(archive, { id: 'v4', channelId: 'UC2' })
  await admin.delete(`/api/group/${boats}/`)
  assert.deepEqual(await shown(), ['v4.mp4', 'vUC2.mp4'])
  await admin.delete('/api/video/v4/')
  assert.deepEqual(await shown(), ['vUC2.mp4'], 'what leaves the archive leaves every face')
  const [{ state, selection }] = (await admin.get('/api/face/')).body.faces
  assert.match(state.error, /^A group for this folder no longer exists/)
  assert.deepEqual(selection, { groups: [boats] })
  assert.equal((await admin.post('/api/face/preview/', { form: 'files', selection })).status, 409)
  assert.equal((await admin.post(path, { selection })).status, 409)
  assert.equal((await admin.post(path, { name: 'Films', is_on: false })).status, 200)
})

test('a face of watched or unwatched videos follows the marks of its account', async (t) => {
  const archive = await testApp(t)
  await archive.given(aChannel({ id: 'UC1' }))
  const admin = archive.as('admin')
  const ids = Array.from({ length: 25 }, (_, at) => `v${String(at).padStart(2, '0')}`)
  for (const id of ids) await lay(archive, { id })
  const roots: string[] = []
  for (const watched of [true, false]) {
    const root = join(archive.dataDir, 'faces', `${watched}`)
    const face = { name: 'TV', root, form: 'files', template: '{id}', selection: { account: 1, watched } }
    assert.equal((await admin.post('/api/face/', face)).status, 200)
    roots.push(root)
  }
  const films = (some: readonly string[]) => some.map((id) => `${id}.mp4`)
  const trees = async () => {
    await archive.settled()
    return Promise.all(roots.map(treeOf))
  }
  assert.deepEqual(await trees(), [[], films(ids)])

  await admin.post('/api/watched/', { id: 'v00', is_watched: true })
  assert.deepEqual(await trees(), [films(['v00']), films(ids.slice(1))])
  await admin.post('/api/watched/', { id: 'v00', is_watched: false })
  assert.deepEqual(await trees(), [[], films(ids)])

  await admin.post('/api/watched/', { id: 'UC1', is_watched: true })
  assert.deepEqual(await trees(), [films(ids), []])
})

test('a playlist file is next to the shows, in its order, and follows changes', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'One', published: '2026-01-02' })
  await face.add({ id: 'v2', title: 'Two', published: '2026-01-03' })
  const admin = face.archive.as('admin')
  const { body } = await admin.post('/api/playlist/custom/', { playlist_name: 'Both' })
  const id = body.playlist_id
  for (const video of ['v2', 'v1'])
    await admin.post(`/api/playlist/custom/${id}/`, { action: 'create', video_id: video })
  await face.archive.settled()
  const path = (await face.tree()).find((one) => one.endsWith('.m3u8'))!
  assert.ok(path.startsWith('Both ['))
  const films = async () => (await face.read(path)).split('\n').filter((line) => line.endsWith('.mp4'))
  assert.deepEqual(
    (await films()).map((line) => /\[(v\d)\]/.exec(line)?.[1]),
    ['v2', 'v1'],
  )
  for (const film of await films()) assert.ok((await face.tree()).includes(film))

  await face.remove('v2')

  assert.deepEqual(
    (await films()).map((line) => /\[(v\d)\]/.exec(line)?.[1]),
    ['v1'],
  )
})

test('a playlist names a file that begins like a comment so that players find it', async (t) => {
  const face = await given(t, { form: 'files', template: '{title} [{id}]' })
  await face.add({ id: 'v1', title: '#shorts at sea', published: '2026-01-02' })
  const admin = face.archive.as('admin')
  const { body } = await admin.post('/api/playlist/custom/', { playlist_name: 'Sea' })
  await admin.post(`/api/playlist/custom/${body.playlist_id}/`, { action: 'create', video_id: 'v1' })
  await face.archive.settled()

  const path = (await face.tree()).find((one) => one.endsWith('.m3u8'))!
  const [film] = (await face.read(path)).split('\n').filter((line) => line.endsWith('.mp4'))
  assert.equal(film, './#shorts at sea [v1].mp4')
  assert.ok((await lstat(join(face.root, film))).isFile())
})

test('a removed face deletes everything that it has created, and nothing else', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', published: '2026-01-02' })
  await writeFile(join(face.root, S, 'notes.txt'), 'mine')

  assert.equal((await face.archive.as('admin').delete(`/api/face/${face.id}/`)).status, 200)
  await face.archive.settled()

  assert.deepEqual(await face.tree(), [`${S}/notes.txt`])
  assert.equal(await face.shown(), undefined)
  assert.ok(await lstat(face.archive.app.media.pathOf('UC1', 'v1')))
})

test('the preview numbers the videos of a season as the folder will', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'Out', published: '2025-12-30' })
  await face.add({ id: 'v2', title: 'To sea', published: '2026-01-02' })
  await face.add({ id: 'v3', title: 'Home', published: '2026-02-03' })

  const root = join(face.archive.dataDir, 'faces', 'new')
  const { body } = await face.archive.as('admin').post('/api/face/preview/', { form: 'shows', selection: {}, root })

  const numbers = body.paths.map((path: string) => /S\d+E\d+/.exec(path)?.[0])
  assert.deepEqual(numbers, ['S2026E2', 'S2026E1', 'S2025E1'])
})

test('paths can be previewed before a face exists', async (t) => {
  const face = await given(t)
  await face.add({ id: 'v1', title: 'To sea', published: '2026-01-02' })

  const { status, body } = await face.archive.as('admin').post('/api/face/preview/', {
    form: 'files',
    template: '{channel}/{title} [{id}]',
    selection: {},
    root: join(face.archive.dataDir, 'faces', 'new'),
  })

  assert.deepEqual([status, body], [200, { paths: ['Boats/To sea [v1].mp4'], link: 'hard' }])
})
