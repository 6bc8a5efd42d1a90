/** The signed-in account and its user preferences. */
import { batch, computed, effect, signal } from '@preact/signals'
import { ask, get, isOtherSession, isSameAccount, isSignedIn, post, shownSession } from '../server/api.ts'
import { cookie, setCookie, under } from '../server/base.ts'
import type { Account, Session, UserPreferences } from '../server/records.ts'
import { openChanges } from './changes.ts'
import { speak, takeChosen } from './language.ts'
import { isThere } from './left-out.ts'
import { countTurns } from './turns.ts'

interface LastVisit {
  account?: Account
  settings?: Partial<UserPreferences>
  groups?: Session['groups']
}

/** Stores the values of the last visit, so that the layout does not shift when the reply arrives. */
const KEY = 'av_session'
/** The cookie that scripts may read: its value identifies the session. */
const CSRF = 'csrftoken'
const lastVisit = readLastVisit()
export const account = signal<Account | undefined>(lastVisit.account)
/** User preferences as stored on the server. */
const stored = signal<Partial<UserPreferences>>(lastVisit.settings ?? {})
/** Called by each read and each change: replies to earlier reads are outdated then. */
const beginStoring = countTurns()
const beginAttention = countTurns()
const changes = openChanges<Partial<UserPreferences>>()
export const userPreferences = computed(
  (): Partial<UserPreferences> => Object.assign({}, stored.value, ...changes.now.value),
)
export const version = signal('')
/** Problems that last until somebody acts. A cached reply may be older than a problem. */
export const attention = signal<Session['attention'] | undefined>(undefined)
/** Whether the account is an admin without admin rights, until an authenticator app is set up. */
export const needsSecondFactor = signal(false)
/** Nobody has signed in yet: the generated password is still in its file. */
export const isUnused = signal(document.querySelector('meta[name="archivolt-unused"]') !== null)
/** The first choices have been neither made nor declined, as far as this document knows. */
export const isWelcomeDue = signal(document.querySelector('meta[name="archivolt-welcome"]') !== null)
export const isAdmin = computed(() => account.value?.is_staff ?? false)
export const mayDownload = computed(() => account.value?.may_download ?? isAdmin.value)

/** Whether the session is known, and the account is not a child's. */
export const seesAll = computed(() => account.value !== undefined && !account.value.view)

/** Whether the account may ask for videos outside of its view; only children may. */
export const mayAsk = (): boolean => isThere('ask') && Boolean(account.value?.view)

/** The role of an account, in one word. */
export type Role = 'admin' | 'downloader' | 'watcher' | 'child'
export const roleOf = ({ is_staff, may_download, view }: Account): Role =>
  is_staff ? 'admin' : view ? 'child' : may_download ? 'downloader' : 'watcher'

/**
 * The address of a channel's page; undefined: no link. A child may see names of channels that it may not open.
 */
export function channelHref(id: string): string | undefined {
  if (!account.value) return undefined
  const { view } = account.value
  const isSeen = !view || view['channel']?.includes(id) || view['not_channel']?.includes(id) === false
  return isSeen ? under(`/channel/${id}/`) : undefined
}

let reading: Promise<void> = Promise.resolve()

/** @throws Failure  there was no reply, or no session; without a session, `isSignedIn` is false */
export const readSession = (): Promise<void> => (reading = read())

/** Resolves when the session is known, or the request for it has failed. */
export const sessionKnown = (): Promise<void> => reading.catch(() => undefined) // the frame reports the reason

/** Shelves of Home that have something to show. */
export const shelves = signal<readonly string[]>([])

/** Contributions of viewers that are switched on here: `titles`, `segments`. */
export const community = signal<readonly string[]>([])

/** Groups as sent with the latest session; they may have changed since. */
export const lastGroups = signal<Session['groups'] | undefined>(lastVisit.groups)
let areGroupsNew = false

/** Groups as sent with the session, for their first use only; later they may have changed. */
export function takeGroups(): Session['groups'] | undefined {
  const told = areGroupsNew ? lastGroups.peek() : undefined
  areGroupsNew = false
  return told
}

async function read(): Promise<void> {
  const csrf = cookie(CSRF)
  const isNewest = beginStoring()
  const isAttentionNewest = beginAttention()
  const session = await get<Session>('/api/session/')
  const { version: running, account: own, preferences, attention: waits } = session
  shownSession.csrf = csrf
  batch(() => {
    version.value = running
    account.value = own
    if (isNewest()) stored.value = preferences
    if (isAttentionNewest()) attention.value = waits
    lastGroups.value = session.groups
    areGroupsNew = true
    shelves.value = session.shelves
    community.value = session.community
    needsSecondFactor.value = session.needs_second_factor
    isSignedIn.value = true
  })
  const { look } = userPreferences.peek()
  if (look) showTheme(look)
  const { language = '' } = stored.peek()
  const chosen = takeChosen()
  if (chosen === undefined || chosen === language) return speak(language)
  await chooseLanguage(chosen).catch(() => undefined) // the language applies to this visit nevertheless
}

/** @throws Failure  the previous values stay */
export const readAttention = async (): Promise<void> => {
  const isNewest = beginAttention()
  const { attention: waits } = await get<Session>('/api/session/')
  if (isNewest()) attention.value = waits
}

effect(() => {
  const now: LastVisit = {
    ...(account.value && { account: account.value }),
    settings: userPreferences.value,
    ...(lastGroups.value && { groups: lastGroups.value }),
  }
  try {
    localStorage.setItem(KEY, JSON.stringify(now))
  } catch {
    return // storage is full or blocked: the next visit waits for the reply
  }
})

function readLastVisit(): LastVisit {
  // Without this cookie nobody is signed in, so stored data of the last account is not shown.
  if (cookie(CSRF) === undefined) {
    isSignedIn.value = false
    return {}
  }
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as LastVisit
  } catch {
    return {} // storage is blocked, or contains something else
  }
}

/** @param code  '': the account needs none, as far as the page knows */
export async function signIn(username: string, password: string, code: string, isRemembered: boolean): Promise<void> {
  const body = { username, password, ...(code && { code }), remember_me: isRemembered ? 'on' : 'off' }
  await ask('POST', '/login/', { body })
  isUnused.value = false
  await readSession()
}

/** @throws Failure  the PIN is wrong, or is no longer sufficient on this device */
export async function signInWithPin(id: number, pin: string): Promise<void> {
  await ask('POST', '/api/device/', { body: { user_id: id, pin } })
  await readSession()
}

/**
 * Signs in by the proxy's header.
 * @throws Failure  the header names nobody, or an unknown user
 */
export async function signInForwarded(): Promise<void> {
  await ask('POST', '/api/forwarded/')
  await readSession()
}

/** If another account has signed in in another tab of this browser, reloads the page for that account. */
isSameAccount.now = async () => {
  const now = cookie(CSRF)
  const shown = account.peek()?.id
  const { account: own } = await get<Session>('/api/session/') // 401: the frame shows the sign-in
  if (own.id === shown) shownSession.csrf = now
  else location.reload()
  return own.id === shown
}

for (const name of ['focus', 'visibilitychange'])
  addEventListener(name, () => {
    // The next event tries again.
    if (isSignedIn.peek() && isOtherSession()) isSameAccount.now?.().catch(() => undefined)
  })

let isLeft = false
/** Whether somebody has signed out in this document. */
export const hasLeft = (): boolean => isLeft

export async function signOut(): Promise<void> {
  await post('/logout/')
  isLeft = true
  isSignedIn.value = false
}

let wasHere = false
isSignedIn.subscribe((isHere) => {
  if (wasHere && isHere === false) leave()
  wasHere = isHere === true
})

/** Clears one account's data, so that the next one on this device does not see it. */
function leave(): void {
  shownSession.csrf = undefined
  if (stored.peek().look) showTheme('system')
  account.value = undefined
  stored.value = {}
  lastGroups.value = undefined
  attention.value = undefined
  needsSecondFactor.value = false
  speak('')
}

/**
 * Shown immediately, and stored with the account.
 * @throws Failure  the change is then undone
 */
export const changeUserPreferences = (change: Partial<UserPreferences>): Promise<void> =>
  changes.during(change, async () => {
    const preferences = await post<UserPreferences>('/api/config/user/', change)
    beginStoring()
    stored.value = preferences
  })

export type Theme = NonNullable<UserPreferences['look']>
export const theme = signal<Theme>((document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system')

/**
 * Stored with the account, for all its devices.
 * @throws Failure  the change is then undone
 */
export async function chooseTheme(chosen: Theme): Promise<void> {
  const before = theme.peek()
  showTheme(chosen)
  try {
    await changeUserPreferences({ look: chosen })
  } catch (error) {
    showTheme(before)
    throw error
  }
}

/**
 * Stored with the account; reloads the page in that language.
 * @throws Failure  the change is then undone
 */
export async function chooseLanguage(language: string): Promise<void> {
  await changeUserPreferences({ language })
  speak(language)
}

/** Also stores the theme in a cookie, so that the next document applies it before its first paint. */
function showTheme(chosen: Theme): void {
  theme.value = chosen
  setCookie('av_theme', chosen === 'system' ? '' : chosen)
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
  document
    .querySelector('meta[name="color-scheme"]')
    ?.setAttribute('content', chosen === 'system' ? 'light dark' : chosen)
}
