/** The frame around every view: navigation, search, activity, account, and dialogs. */
import type { IconNode } from 'lucide'
import {
  ChartColumn,
  Clock,
  Download,
  House,
  Keyboard,
  ListVideo,
  LogOut,
  Puzzle,
  Settings,
  TvMinimalPlay,
  User,
  Users,
} from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../browser/keys.ts'
import { match, navigate, route } from '../browser/router.ts'
import { Avatar } from '../parts/avatar.tsx'
import { TakeQuestion } from '../parts/beginning.tsx'
import { Confirmation } from '../parts/dialog.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PlaylistDialog } from '../parts/playlist-dialog.tsx'
import { ProofDialog } from '../parts/proof.tsx'
import { TripQuestion } from '../parts/trip.tsx'
import { WATCH_LATER } from '../parts/watch-later.ts'
import { get, isSignedIn } from '../server/api.ts'
import { under } from '../server/base.ts'
import { connection, listen } from '../server/events.ts'
import type { Page, QueueItem } from '../server/records.ts'
import { coalesce } from '../stores/coalesce.ts'
import { countOf, isMore, isSome } from '../stores/list.ts'
import { platformState } from '../stores/platform.ts'
import { pluginPages } from '../stores/plugin-pages.ts'
import { failedIn } from '../stores/queue.ts'
import { account, chooseTheme, isAdmin, mayDownload, signOut, type Theme, theme, version } from '../stores/session.ts'
import { countTurns } from '../stores/turns.ts'
import { toNumber } from '../texts/format.ts'
import { type Count, type PlainKey, t, toCount } from '../texts/lookup.ts'
import { Activity } from './activity.tsx'
import { AddButton, AddSheet } from './add.tsx'
import { ForChild } from './for-child.tsx'
import { Help } from './help.tsx'
import { MiniPlayer } from './mini-player.tsx'
import { offer, PasteSheet } from './paste.tsx'
import { SearchField } from './search-field.tsx'
import { Toasts } from './toasts.tsx'
import { type View, views } from './views.ts'

interface Section {
  key: NonNullable<View['section']>
  /** The key that follows `g`. */
  letter: string
  icon: IconNode
  text: PlainKey & `nav.${string}`
  path: string
  isForDownloaders?: boolean
}

const sections: Section[] = [
  { key: 'home', letter: 'h', icon: House, text: 'nav.home', path: '/' },
  { key: 'channels', letter: 'c', icon: TvMinimalPlay, text: 'nav.channels', path: '/channels/' },
  { key: 'playlists', letter: 'p', icon: ListVideo, text: 'nav.playlists', path: '/playlists/' },
  { key: 'downloads', letter: 'd', icon: Download, text: 'nav.downloads', path: '/downloads/', isForDownloaders: true },
  { key: 'statistics', letter: 's', icon: ChartColumn, text: 'nav.statistics', path: '/statistics/' },
  { key: 'settings', letter: 'e', icon: Settings, text: 'nav.settings', path: '/settings/' },
]

const THEMES: Theme[] = ['system', 'light', 'dark']

export function Frame({ children }: { children: ComponentChildren }) {
  const [isHelpOpen, setHelpOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const shown = sections.filter(({ isForDownloaders }) => !isForDownloaders || mayDownload.value)
  useKeys({
    '/': () => document.querySelector<HTMLInputElement>('#search')?.focus(),
    '?': () => setHelpOpen(true),
    ...Object.fromEntries(shown.map(({ letter, path }) => [`g ${letter}`, () => navigate(path)])),
  })
  useShared()
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {t('app.skip')}
      </a>
      <header class="top">
        <a class="brand" href={under('/')} aria-label={`${t('app.name')}, ${t('nav.home')}`}>
          <Mark />
          <span>{t('app.name')}</span>
        </a>
        <SearchField />
        <div class="top-end">
          <AddButton />
          <ForChild part="TimeLeft" />
          <Activity />
          <AccountMenu />
        </div>
      </header>
      <Navigation shown={shown} />
      <main id="content" ref={main} tabIndex={-1}>
        {connection.value === 'lost' && (
          <p class="notice" role="status">
            {t(version.value === '' ? 'state.offline.cached' : 'state.offline')}
          </p>
        )}
        <ForChild part="Answers" />
        {children}
      </main>
      <MiniPlayer />
      <Toasts />
      <Confirmation />
      <ForChild part="TimeOver" />
      <ProofDialog />
      <TakeQuestion />
      <TripQuestion />
      <PlaylistDialog />
      <PasteSheet />
      <AddSheet />
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} sections={shown} />}
    </div>
  )
}

/** Handles this address, to which the system sends links that other apps share (manifest.webmanifest). */
function useShared(): void {
  const { path, query } = route.value
  useEffect(() => {
    if (path !== '/share/' || !isSignedIn.value) return
    navigate('/', { isReplacing: true })
    // Apps put the link into any of these fields.
    void offer(['url', 'text', 'title'].map((name) => query.get(name) ?? '').join(' '))
  }, [path, isSignedIn.value])
}

function Navigation({ shown }: { shown: Section[] }) {
  const section = views.find(({ address }) => match(address, route.value.path))?.section
  return (
    <nav class="rail" aria-label={t('nav.label')}>
      {shown.map(({ key, icon, text, path }) => (
        // A phone has space for five entries; statistics are also in the account menu.
        <a
          key={key}
          class={key === 'statistics' ? 'rail-wide' : ''}
          href={under(path)}
          aria-current={key === section ? 'page' : undefined}
        >
          <Icon node={icon} />
          <span class="rail-label">{t(text)}</span>
          {key === 'downloads' && <Waiting />}
        </a>
      ))}
      {pluginPages.value?.map(({ plugin, title }) => (
        // On a phone, these entries are in the account menu.
        <a
          key={`plugin ${plugin}`}
          class="rail-wide"
          href={under(`/plugin/${plugin}/`)}
          aria-current={route.value.path === `/plugin/${plugin}/` ? 'page' : undefined}
        >
          <Icon node={Puzzle} />
          <span class="rail-label">{title}</span>
        </a>
      ))}
    </nav>
  )
}

const short = (count: Count, most: number): string => (isMore(count, most) ? `${toNumber(most)}+` : toCount(count))

/** The server counts up to this number. */
const MOST_COUNTED = 10_000
const toCounted = (count: number): Count => (count < MOST_COUNTED ? count : { moreThan: MOST_COUNTED })

/** The numbers of waiting and failed items. Admins get both from the state of the platform. */
function Waiting() {
  const counted = useCount(account.value !== undefined && !isAdmin.value)
  const count = isAdmin.value ? toCounted(platformState.value?.pending ?? 0) : counted
  const failed = failedIn(platformState.value)
  return (
    <>
      {isSome(count) && (
        <span class="count" aria-label={t('nav.waiting', { count })}>
          {short(count, 999)}
        </span>
      )}
      {failed > 0 && (
        <span
          class="count failed"
          aria-label={t('nav.failed', { count: failed })}
          title={t('nav.failed', { count: failed })}
        >
          {short(failed, 99)}
        </span>
      )}
    </>
  )
}

/**
 * The number of waiting items, for accounts that may not see the state of the platform. A burst of changes causes one
 * request.
 */
function useCount(mayAsk: boolean): Count {
  const [count, setCount] = useState<Count>(0)
  useEffect(() => {
    if (!mayAsk) return
    const begin = countTurns()
    const { soon, end } = coalesce(() => {
      // As in the view: failed items do not count as waiting.
      const isNewest = begin()
      get<Page<QueueItem>>('/api/download/', { filter: 'pending', error: false }).then(
        ({ paginate }) => isNewest() && setCount(countOf(paginate)),
        () => isNewest() && setCount(0), // the frame already reports that the server is unreachable
      )
    }, 1000)
    // The requests of the view come first.
    soon()
    const told = listen('queue', (change) => {
      // The progress of an item does not change the number.
      if (!('progress' in change && change.progress)) soon()
    })
    return () => (told(), end())
  }, [mayAsk])
  return count
}

function AccountMenu() {
  if (!isSignedIn.value) return null
  const items = [
    {
      label: account.value?.username ?? t('account.label'),
      icon: User,
      onSelect: () => navigate('/settings/account/'),
    },
    { label: t('later.name'), icon: Clock, onSelect: () => navigate(`/playlist/${WATCH_LATER}/`) },
    ...(pluginPages.value ?? []).map(({ plugin, title }) => ({
      label: title,
      icon: Puzzle,
      onSelect: () => navigate(`/plugin/${plugin}/`),
    })),
    { label: t('nav.statistics'), icon: ChartColumn, onSelect: () => navigate('/statistics/') },
    { label: t('nav.settings'), icon: Settings, onSelect: () => navigate('/settings/') },
    {
      label: t('help.title'),
      icon: Keyboard,
      onSelect: () => dispatchEvent(new KeyboardEvent('keydown', { key: '?' })),
    },
    ...(account.value?.has_pin ? [{ label: t('account.switch'), icon: Users, onSelect: () => signOut() }] : []),
    { label: t('account.signOut'), icon: LogOut, onSelect: () => signOut() },
    ...THEMES.map((one) => ({
      label: t(`theme.${one}`),
      isChosen: theme.value === one,
      onSelect: () => chooseTheme(one),
    })),
  ]
  return (
    <Menu label={account.value ? `${t('account.label')}: ${account.value.username}` : t('account.label')} items={items}>
      {account.value ? <Avatar of={account.value} size={30} /> : <Icon node={User} />}
    </Menu>
  )
}
