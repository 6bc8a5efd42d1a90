/** Who is signed in, and how they like the page. */
import { batch, computed, effect, signal } from '@preact/signals'
import { ask, get, isSignedIn, post } from '../server/api.ts'
import { cookie, setCookie, under } from '../server/base.ts'
import type { Account, Session, UserPreferences } from '../server/records.ts'
import { openChanges } from './changes.ts'
import { speak, takeChosen } from './language.ts'

interface LastVisit {
  account?: Account
  settings?: Partial<UserPreferences>
}

/** What it was at the last visit, so that nothing jumps when the answer comes. */
const KEY = 'av_session'
const lastVisit = readLastVisit()
export const account = signal<Account | undefined>(lastVisit.account)
/** As the server has them. */
const stored = signal<Partial<UserPreferences>>(lastVisit.settings ?? {})
const changes = openChanges<Partial<UserPreferences>>()
export const userPreferences = computed(
  (): Partial<UserPreferences> => Object.assign({}, stored.value, ...changes.now.value),
)
export const version = signal('')
/** What goes on until somebody does something. An answer that this device has cached may be from before there was any. */
export const attention = signal<Session['attention'] | undefined>(undefined)
/** An admin who may do no more than others, until they have set up an authenticator app. */
export const needsSecondFactor = signal(false)
/** Nobody has ever signed in: the made-up password still lies in its file. */
export const isUnused = signal(document.querySelector('meta[name="archivolt-unused"]') !== null)
/** The first choices are neither made nor put off, as far as this document knows. */
export const isWelcomeDue = signal(document.querySelector('meta[name="archivolt-welcome"]') !== null)
export const isAdmin = computed(() => account.value?.is_staff ?? false)
export const mayDownload = computed(() => account.value?.may_download ?? isAdmin.value)

/** It is known who this is, and it is no child. */
export const seesAll = computed(() => account.value !== undefined && !account.value.view)

/** What an account is, in one word. */
export type Role = 'admin' | 'downloader' | 'watcher' | 'child'
export const roleOf = ({ is_staff, may_download, view }: Account): Role =>
  is_staff ? 'admin' : view ? 'child' : may_download ? 'downloader' : 'watcher'

/**
 * Where a channel has its page. A child may see the name of one that was not chosen: that leads nowhere, and nowhere
 * leads what is shown before it is known who this is.
 */
export function channelHref(id: string): string | undefined {
  if (!account.value) return undefined
  const { view } = account.value
  return !view || view['channel']?.includes(id) ? under(`/channel/${id}/`) : undefined
}

let reading: Promise<void> = Promise.resolve()

/** @throws Failure  no answer; who is not signed in is told by `isSignedIn` */
export const readSession = (): Promise<void> => (reading = read())

/** Once the server has said who this is, or has not. */
export const sessionKnown = (): Promise<void> => reading.catch(() => undefined) // the frame says why

async function read(): Promise<void> {
  const session = await get<Session>('/api/session/')
  const { version: running, account: own, preferences, attention: waits } = session
  batch(() => {
    version.value = running
    account.value = own
    stored.value = preferences
    attention.value = waits
    needsSecondFactor.value = session.needs_second_factor
    isSignedIn.value = true
  })
  if (preferences.look) showTheme(preferences.look)
  const chosen = takeChosen()
  if (chosen === undefined || chosen === (preferences.language ?? '')) return speak(preferences.language ?? '')
  await chooseLanguage(chosen).catch(() => undefined) // this visit has it all the same
}

/** @throws Failure  what was known holds */
export const readAttention = async (): Promise<void> => {
  attention.value = (await get<Session>('/api/session/')).attention
}

effect(() => {
  const now: LastVisit = { ...(account.value && { account: account.value }), settings: userPreferences.value }
  try {
    localStorage.setItem(KEY, JSON.stringify(now))
  } catch {
    return // storage is full or shut: the next visit asks first
  }
})

function readLastVisit(): LastVisit {
  // Without the cookie nobody is signed in: then nothing of the last one is shown.
  if (cookie('csrftoken') === undefined) {
    isSignedIn.value = false
    return {}
  }
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as LastVisit
  } catch {
    return {} // shut, or not ours
  }
}

/** @param code  '': the account asks for none, as far as is known */
export async function signIn(username: string, password: string, code: string, isRemembered: boolean): Promise<void> {
  const body = { username, password, ...(code && { code }), remember_me: isRemembered ? 'on' : 'off' }
  await ask('POST', '/login/', { body })
  isUnused.value = false
  await readSession()
}

/** @throws Failure  wrong, or no longer enough on this device */
export async function signInWithPin(id: number, pin: string): Promise<void> {
  await ask('POST', '/api/device/', { body: { user_id: id, pin } })
  await readSession()
}

/** As the proxy in front says. @throws Failure  it names nobody, or nobody of here */
export async function signInForwarded(): Promise<void> {
  await ask('POST', '/api/forwarded/')
  await readSession()
}

let isLeft = false
/** Somebody has signed out here, and this document is still the same. */
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

/** What is one account's own does not stay for the next at this device. */
function leave(): void {
  if (stored.peek().look) showTheme('system')
  account.value = undefined
  stored.value = {}
  attention.value = undefined
  needsSecondFactor.value = false
  speak('')
}

/** Shown at once, stored for the next visit. @throws Failure  then it is as it was */
export const changeUserPreferences = (change: Partial<UserPreferences>): Promise<void> =>
  changes.during(change, async () => {
    stored.value = await post<UserPreferences>('/api/config/user/', change)
  })

export type Theme = NonNullable<UserPreferences['look']>
export const theme = signal<Theme>((document.documentElement.dataset['theme'] as Theme | undefined) ?? 'system')

/** Stored with the account, so that it is theirs on each device. @throws Failure  then it is as it was */
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

/** Stored with the account; the page is loaded anew in it. @throws Failure  then it is as it was */
export async function chooseLanguage(language: string): Promise<void> {
  await changeUserPreferences({ language })
  speak(language)
}

/** Stored in a cookie too, so that the next document has it before its first paint. */
function showTheme(chosen: Theme): void {
  theme.value = chosen
  setCookie('av_theme', chosen === 'system' ? '' : chosen)
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
  document
    .querySelector('meta[name="color-scheme"]')
    ?.setAttribute('content', chosen === 'system' ? 'light dark' : chosen)
}
