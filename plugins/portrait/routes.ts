/**
 * The picture of an account: visible to the account itself, to admins, and on devices where it signs in; changed by the
 * account itself or an admin.
 */
import {
  type Actor,
  bytes,
  defineRoute,
  errors,
  isAppError,
  openLocks,
  type ReplyHeaders,
  ROW_PATTERN,
  Type,
} from 'archivolt'
import type { App } from './app.ts'

const MOST_BYTES = 10 << 20
const NO_PICTURE = 'This file is not a readable picture: send a JPEG, PNG, WebP, GIF, BMP, TIFF or JPEG XL'
const Params = Type.Object({ userId: Type.String({ pattern: ROW_PATTERN }) })
/** The form in records of accounts. */
const Chosen = Type.Object({ picture: Type.Union([Type.String(), Type.Null()]) })

/** With the version, a URL identifies one picture forever. */
const version = Type.Optional(
  Type.String({
    maxLength: 1000,
    description: 'the value of `picture` in the record of the account: the reply is then cached for a year',
  }),
)
const YEAR_SECONDS = 31_536_000

/** One upload at a time per account, so that it occupies only one file. */
const uploads = openLocks()

export const showPicture = defineRoute({
  method: 'GET',
  path: '/api/user/:userId/picture/',
  access: 'viewer',
  summary: 'The picture of an account, as a square JPEG: the caller’s own, or any if the caller is an admin',
  params: Params,
  query: { version },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle({ params: { userId }, query, actor, headers }, app: App) {
    const id = Number(userId)
    // Other accounts must not learn whether this account exists or has a picture.
    if (id !== actor.id && !actor.isAdmin) throw errors.notFound('picture')
    return sendPicture(id, { query, headers }, app)
  },
})

/** Before a sign-in, only the accounts in the device's list are visible. */
export const showPictureOfDevice = defineRoute({
  method: 'GET',
  path: '/api/device/:userId/picture/',
  access: 'open',
  summary: 'The picture of an account that may sign in on this device with its PIN',
  params: Params,
  query: { version },
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  handle({ params: { userId }, query, request, headers }, app: App) {
    const known = app.accounts.onDevice(request.headers['cookie']).find(({ id }) => id === Number(userId))
    if (!known) throw errors.notFound('picture')
    return sendPicture(known.id, { query, headers }, app)
  },
})

export const changePicture = defineRoute({
  method: 'PUT',
  path: '/api/user/:userId/picture/',
  access: 'viewer',
  summary: 'Change the picture of an account: the caller’s own, or any if the caller is an admin',
  params: Params,
  rawBody: { contentType: 'application/octet-stream', maxBodyBytes: MOST_BYTES },
  reply: Chosen,
  errors: ['permission_denied', 'not_found', 'body_too_large', 'unprocessable', 'unavailable'],
  async handle({ params: { userId }, actor, request, signal }, { accounts, media }: App) {
    const id = allowedId(userId, actor)
    if (!accounts.get(id)) throw errors.notFound('user')
    const jpeg = await uploads.exclusive(userId, () => media.portraitOf(request.stream, signal)).catch(refuse)
    const { picture } = await accounts.changePicture(id, jpeg)
    return { picture }
  },
})

export const removePicture = defineRoute({
  method: 'DELETE',
  path: '/api/user/:userId/picture/',
  access: 'viewer',
  summary: 'Remove the picture of an account: the caller’s own, or any if the caller is an admin',
  params: Params,
  reply: Chosen,
  errors: ['permission_denied', 'not_found'],
  async handle({ params: { userId }, actor }, { accounts }: App) {
    const { picture } = await accounts.changePicture(allowedId(userId, actor), null)
    return { picture }
  },
})

interface Asked {
  query: { version?: string }
  headers: ReplyHeaders
}

function sendPicture(id: number, { query, headers }: Asked, { accounts }: Pick<App, 'accounts'>) {
  const picture = accounts.picture(id)
  if (!picture) throw errors.notFound('picture')
  const isNamed = query.version === picture.version
  headers.set('cache-control', isNamed ? `private, max-age=${YEAR_SECONDS}, immutable` : 'private, no-cache')
  return bytes(picture.jpeg, 'image/jpeg', { version: picture.version })
}

/** Other accounts get the same reply whether the account exists or not. */
function allowedId(userId: string, actor: Actor): number {
  const id = Number(userId)
  if (!actor.isAdmin && id !== actor.id) throw errors.permissionDenied('Only an admin may change pictures of others')
  return id
}

function refuse(thrown: unknown): never {
  throw isAppError(thrown, 'unprocessable') ? errors.unprocessable(NO_PICTURE, { cause: thrown }) : thrown
}
