/** The entry point of the page: finds out who is signed in, then shows the frame with the view of the address. */
import { effect, signal, useSignal } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { isSofa } from './browser/layout.ts'
import { dropAll, dropOthers, hasFilms, prepareOffline } from './browser/offline.ts'
import { returnFocus } from './browser/return-focus.ts'
import {
  goBack,
  isBeginning,
  isRestoring,
  listenToLinks,
  match,
  navigate,
  restoreScroll,
  route,
  type ViewProps,
} from './browser/router.ts'
import { moreStyles } from './browser/styles.ts'
import { setTitle, useTitle } from './browser/title.ts'
import { Frame } from './frame/frame.tsx'
import { listenToPastes } from './frame/paste.tsx'
import { type View, views } from './frame/views.ts'
import { Empty, Failed } from './parts/states.tsx'
import { type Failure, get, isAway, isSignedIn, toFailure } from './server/api.ts'
import { connection, openEvents } from './server/events.ts'
import { forgetAll } from './stores/load.ts'
import { isDeviceKnown } from './stores/offline-videos.ts'
import { account, needsSecondFactor, readSession } from './stores/session.ts'
import { dropUnsent, sendUnsent } from './stores/unsent.ts'
import { moreTexts, t } from './texts/lookup.ts'

const ACCOUNT = '/settings/account/'
const failure = signal<Failure | undefined>(undefined)
/** The view for people who are not signed in, at any address. */
const login: View = { address: '', title: 'login.title', load: () => import('./views/login.tsx') }
const loaded = signal(new Map<View, ComponentType<ViewProps>>())

/** Admins start here until they have set up what this server requires of them. */
effect(() => {
  if (needsSecondFactor.value && route.peek().path !== ACCOUNT) navigate(ACCOUNT, { isReplacing: true })
})

async function begin(): Promise<void> {
  if (isSignedIn.value === false) return
  failure.value = undefined
  try {
    await readSession()
  } catch (error) {
    const met = toFailure(error)
    if (isAway(met) && account.peek() && navigator.serviceWorker?.controller) showCached()
    else if (met.status !== 401) failure.value = met
  }
}

/**
 * The server does not reply, but the service worker has cached this account's last Home: show it, and let the frame
 * report the problem.
 */
function showCached(): void {
  isSignedIn.value = true
  const end = connection.subscribe((now) => {
    if (now !== 'connected' && now !== 'polling') return
    queueMicrotask(() => end())
    void begin()
  })
}

function App() {
  if (isSignedIn.value === false) return <Shown view={login} params={{}} entry="" />
  if (failure.value) return <Failed isWhole failure={failure.value} onRetry={begin} />
  return (
    <Frame>
      <Current />
    </Frame>
  )
}

function Current() {
  const { path, key } = route.value
  for (const view of views) {
    const params = match(view.address, path)
    if (params) return <Shown key={view.address} view={view} params={params} entry={key} />
  }
  return <NotFound />
}

function NotFound() {
  useTitle(t('app.notFound'))
  return (
    <Empty isWhole title={t('app.notFound')}>
      <a class="button main" href="/" onClick={(event) => (event.preventDefault(), navigate('/'))}>
        {t('app.notFound.next')}
      </a>
    </Empty>
  )
}

function Shown({ view, params, entry }: { view: View; params: Record<string, string>; entry: string }) {
  const failed = useSignal<Failure | undefined>(undefined)
  // What a view requests depends on the account. Only a browser without a stored visit waits for the session.
  const Component = account.value || view === login ? loaded.value.get(view) : undefined
  /**
   * Finds out whether the server is unreachable, or the chunk belongs to an older build: reloading the document helps
   * in both cases.
   */
  const askWhy = (then: () => void) =>
    void get('/api/ping/').then(then, (error: unknown) => {
      // 401 is a reply, too.
      if (toFailure(error).status === 401) then()
      else failed.value = toFailure(error)
    })
  const again = () => askWhy(() => location.reload())
  const load = () =>
    void Promise.all([view.load(), view.isFirst || moreStyles(), view.isFirst || moreTexts()]).then(
      ([module]) => void (loaded.value = new Map(loaded.value).set(view, module.default)),
      (error: unknown) => askWhy(() => void (failed.value = toFailure(error))),
    )
  useEffect(load, [view])
  useEffect(() => connection.subscribe((now) => now === 'connected' && failed.peek()?.status === 0 && again()), [])
  useLayoutEffect(() => setTitle(t(view.title)), [view, entry])
  // Cached views are shown at once, so the scroll position can be restored.
  useLayoutEffect(() => {
    return Component && restoreScroll(entry)
  }, [entry, Component])
  if (failed.value) return <Failed isWhole failure={failed.value} onRetry={again} />
  return Component ? <Component params={params} /> : null
}

listenToLinks()
listenToPastes()
// Loads the view's chunk while the session is requested.
void (isSignedIn.value === false ? login : views.find(({ address }) => match(address, route.value.path)))?.load()
void begin()
addEventListener('online', () => failure.value && void begin())
effect(() => {
  if (!isSofa.value) return returnFocus()
  let end: (() => void) | undefined
  let isOver = false
  void import('./browser/remote.ts').then(({ listenToRemote }) => {
    if (!isOver) end = listenToRemote({ isRestoring, isBeginning, goBack })
  })
  return () => {
    isOver = true
    end?.()
  }
})
effect(() => {
  if (!isSignedIn.value) return
  const end = openEvents()
  return () => {
    end()
    forgetAll()
  }
})
effect(() => {
  const id = account.value?.id
  if (isSignedIn.value === false) return (dropUnsent(), void dropAll())
  if (!isSignedIn.value || id === undefined) return
  void dropOthers(id)
  const isStill = () => isSignedIn.peek() === true && account.peek()?.id === id
  const whenIdle = globalThis.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 2000))
  whenIdle(() => void prepareOffline(id, isStill))
  void hasFilms(id)
    .then(async (isSo) => isSo && isStill() && (await import('./parts/offline-videos.ts')).readDevice())
    .catch(() => undefined) // storage is blocked, or the script failed to load: everything is played from the server
    .then(() => void (isDeviceKnown.value = true))
})
effect(() => void (connection.value === 'connected' && sendUnsent()))
render(<App />, document.getElementById('app')!)
