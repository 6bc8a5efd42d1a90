/** Pictures that accounts choose: converted from any upload, shown, replaced, and removed. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import mediaPlugin from '../../../plugins/media/plugin.ts'
import platformPlugin from '../../../plugins/platform/plugin.ts'
import portraitPlugin from '../../../plugins/portrait/plugin.ts'
import userPlugin from '../../../plugins/user/plugin.ts'
import '../../support/ffmpeg.ts'
import { PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const BYTES = { 'content-type': 'application/octet-stream' }
const NOT_OURS = 'Only an admin may change pictures of others'

const portraitApp = (t: TestContext): Promise<TestApp> =>
  testApp(t, { plugins: [userPlugin, platformPlugin, mediaPlugin, portraitPlugin] })

/** ffmpeg's test source, or a color, in this format. */
const aPicture = (format: string, source = 'testsrc=s=800x500'): Buffer => {
  const [codec = '', muxer = ''] = { png: ['png', 'image2pipe'], webp: ['libwebp', 'webp'], jpeg: ['mjpeg', 'mjpeg'] }[
    format
  ]!
  const input = ['-v', 'error', '-f', 'lavfi', '-i', source, '-frames:v', '1']
  return execFileSync('ffmpeg', [...input, '-c:v', codec, '-f', muxer, 'pipe:1'])
}

/** The colors of a picture scaled to two by two points, as `rrggbb`. */
function fourPoints(jpeg: Buffer): string[] {
  const args = [
    '-v',
    'error',
    '-i',
    'pipe:0',
    '-vf',
    'format=gbrp,scale=2:2:flags=area',
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgb24',
    'pipe:1',
  ]
  return execFileSync('ffmpeg', args, { input: jpeg }).toString('hex').match(/.{6}/g)!
}

/** Which of red, green and blue are strong. */
const kindOf = (colour: string): string =>
  ['r', 'g', 'b'].filter((_, at) => Number.parseInt(colour.slice(2 * at, 2 * at + 2), 16) > 127).join('')

const sizeOf = (jpeg: Buffer): string =>
  execFileSync(
    'ffprobe',
    ['-v', 'error', '-f', 'jpeg_pipe', '-show_entries', 'stream=codec_name,width,height', '-of', 'csv=p=0', 'pipe:0'],
    { input: jpeg, encoding: 'utf8' },
  ).trim()

/** The same picture with EXIF orientation 6: its right side is up. */
function turned(jpeg: Buffer): Buffer {
  const tiff = Buffer.from('4d4d002a000000080001011200030000000100060000' + '00000000', 'hex')
  const content = Buffer.concat([Buffer.from('Exif\0\0'), tiff])
  const head = Buffer.from([0xff, 0xe1, 0, content.length + 2])
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)])
}

test('a picture of any kind becomes a square JPEG that its account and admins see', async (t) => {
  const app = await portraitApp(t)
  const [admin, user] = [app.as('admin'), app.as('user')]
  const versions = new Set<string>()

  for (const format of ['png', 'webp', 'jpeg']) {
    const { status, body } = await user.put('/api/user/2/picture/', aPicture(format), BYTES)
    assert.equal(status, 200, format)
    assert.match(body.picture, /^[\w-]{16}$/)
    versions.add(body.picture)

    const shown = await admin.get('/api/user/2/picture/')
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'image/jpeg'])
    assert.equal(sizeOf(shown.bytes), 'mjpeg,256,256')
    assert.ok(shown.bytes.length < 50_000, `${shown.bytes.length} bytes`)
    assert.equal((await admin.get('/api/user/2/')).body.picture, body.picture)
  }

  assert.equal(versions.size, 3)
  assert.equal((await user.get('/api/user/2/')).body.picture, [...versions].at(-1))
  assert.deepEqual(
    (await admin.get('/api/user/')).body.map(({ picture }: { picture: string | null }) => picture),
    [null, [...versions].at(-1)],
  )
  assert.equal((await app.as('nobody').get('/api/user/2/picture/')).status, 401)
  await admin.put('/api/user/1/picture/', aPicture('png'), BYTES)
  const [ofOther, ofNobody] = [await user.get('/api/user/1/picture/'), await user.get('/api/user/99/picture/')]
  assert.deepEqual([ofOther.status, ofOther.body], [404, ofNobody.body])
  assert.deepEqual(await readdir(join(app.dataDir, 'cache', '.incoming')), [])
})

test('it is never enlarged, shows its middle upright, and is white where the original is transparent', async (t) => {
  const app = await portraitApp(t)
  const user = app.as('user')
  const made = async (picture: Buffer): Promise<Buffer> => {
    assert.equal((await user.put('/api/user/2/picture/', picture, BYTES)).status, 200)
    return (await user.get('/api/user/2/picture/')).bytes
  }
  // Green on the left and right, red above blue in the middle.
  const boxes = 'drawbox=x=40:w=80:h=40:c=red:t=fill,drawbox=x=40:y=40:w=80:h=40:c=blue:t=fill'

  const small = await made(aPicture('jpeg', `color=lime:s=160x80,${boxes}`))
  assert.equal(sizeOf(small), 'mjpeg,80,80')
  assert.deepEqual(fourPoints(small).map(kindOf), ['r', 'r', 'b', 'b'])

  const onItsSide = await made(turned(aPicture('jpeg', `color=lime:s=160x80,${boxes}`)))
  assert.deepEqual(fourPoints(onItsSide).map(kindOf), ['b', 'r', 'b', 'r'])

  const glass = await made(aPicture('png', 'color=black@0:s=80x80,format=rgba'))
  assert.deepEqual(fourPoints(glass).map(kindOf), ['rgb', 'rgb', 'rgb', 'rgb'])
})

test('a client that has it gets a 304; an address with its version is cached permanently', async (t) => {
  const app = await portraitApp(t)
  const user = app.as('user')
  const { picture } = (await user.put('/api/user/2/picture/', aPicture('png'), BYTES)).body

  const first = await user.get('/api/user/2/picture/')
  const tag = first.headers.get('etag')!
  assert.equal(first.headers.get('cache-control'), 'private, no-cache')
  const again = await user.get('/api/user/2/picture/', { 'if-none-match': tag })
  assert.deepEqual([again.status, again.bytes.length, again.headers.get('etag')], [304, 0, tag])
  assert.match(
    (await user.get(`/api/user/2/picture/?version=${picture}`)).headers.get('cache-control')!,
    /^private, max-age=31536000, immutable$/,
  )

  await user.put('/api/user/2/picture/', aPicture('png', 'color=red:s=40x40'), BYTES)
  const other = await user.get(`/api/user/2/picture/?version=${picture}`, { 'if-none-match': tag })
  assert.deepEqual([other.status, other.headers.get('cache-control')], [200, 'private, no-cache'])
  assert.notEqual(other.headers.get('etag'), tag)
})

test('an invalid or too large picture is refused in words and leaves the existing one', async (t) => {
  const app = await portraitApp(t)
  const user = app.as('user')
  const { picture } = (await user.put('/api/user/2/picture/', aPicture('png'), BYTES)).body
  const film = execFileSync('ffmpeg', [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc=s=64x64',
    '-t',
    '1',
    '-f',
    'matroska',
    'pipe:1',
  ])
  const hostile = {
    nothing: Buffer.alloc(0),
    words: Buffer.from('not a picture at all'),
    'a playlist that names a file': Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'),
    'a drawing with scripts': Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
    'a film': film,
    'half a head': aPicture('png').subarray(0, 20),
  }

  for (const [what, content] of Object.entries(hostile)) {
    const { status, body } = await user.put('/api/user/2/picture/', content, BYTES)
    assert.deepEqual([status, body.code], [422, 'unprocessable'], what)
    assert.match(body.error, /is not a readable picture: send a JPEG/, what)
  }
  const large = await user.put('/api/user/2/picture/', Buffer.alloc((10 << 20) + 1), BYTES)
  assert.deepEqual([large.status, large.body.code], [413, 'body_too_large'])
  assert.equal((await user.put('/api/user/2/picture/', aPicture('png'), { 'content-type': 'image/png' })).status, 415)

  assert.equal((await user.get('/api/user/2/')).body.picture, picture)
  assert.deepEqual(await readdir(join(app.dataDir, 'cache', '.incoming')), [])
})

test('an account changes its own, an admin any; it is removed with its account', async (t) => {
  const app = await portraitApp(t)
  const [admin, user] = [app.as('admin'), app.as('user')]
  for (const id of [1, 99]) {
    const { status, body } = await user.put(`/api/user/${id}/picture/`, aPicture('png'), BYTES)
    assert.deepEqual([status, body.error], [403, NOT_OURS])
    assert.equal((await user.delete(`/api/user/${id}/picture/`)).status, 403)
  }
  assert.equal((await admin.put('/api/user/99/picture/', aPicture('png'), BYTES)).status, 404)
  assert.equal((await admin.delete('/api/user/99/picture/')).status, 404)

  assert.equal((await admin.put('/api/user/2/picture/', aPicture('png'), BYTES)).status, 200)
  assert.deepEqual((await user.delete('/api/user/2/picture/')).body, { picture: null })
  assert.equal((await user.get('/api/user/2/')).body.picture, null)
  assert.equal((await user.get('/api/user/2/picture/')).status, 404)

  await user.put('/api/user/2/picture/', aPicture('png'), BYTES)
  const rows = () => app.app.ledger.sql('SELECT user_id FROM user_pictures').all()
  assert.equal(rows().length, 1)
  await admin.delete('/api/user/2/')
  assert.deepEqual(rows(), [])
})

test('before a sign-in, a device shows the pictures of its known accounts, and no others', async (t) => {
  const app = await portraitApp(t)
  const picture = (await app.as('user').put('/api/user/2/picture/', aPicture('png'), BYTES)).body.picture
  await app.as('admin').put('/api/user/1/picture/', aPicture('png'), BYTES)
  await app.as('user').post('/api/user/2/', { pin: '4711', current_password: PASSWORD })
  const nobody = app.as('nobody')
  const { headers } = await nobody.post('/login/', { username: 'user', password: PASSWORD, remember_me: 'on' })
  const device = headers
    .getSetCookie()
    .find((one) => one.startsWith('device='))!
    .split(';', 1)[0]!

  assert.deepEqual((await nobody.get('/api/device/', { cookie: device })).body, [{ id: 2, username: 'user', picture }])
  const shown = await nobody.get('/api/device/2/picture/', { cookie: device })
  assert.deepEqual([shown.status, sizeOf(shown.bytes)], [200, 'mjpeg,256,256'])
  assert.equal((await nobody.get('/api/device/1/picture/', { cookie: device })).status, 404)
  assert.equal((await nobody.get('/api/device/2/picture/')).status, 404)
})
