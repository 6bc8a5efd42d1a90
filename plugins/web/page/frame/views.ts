/** Maps addresses to views. Each view except Home is a chunk that is loaded when it is first opened. */
import type { ComponentType } from 'preact'
import type { ViewProps } from '../browser/router.ts'
import type { PlainKey } from '../texts/lookup.ts'
import Home from '../views/home.tsx'

export interface View {
  /** A pattern, as in `../addresses.ts`. */
  address: string
  /** The highlighted entry of the navigation. */
  section?: 'home' | 'channels' | 'playlists' | 'downloads' | 'statistics' | 'settings'
  /** The view needs only the styles and texts of the first load. */
  isFirst?: true
  /** The document's title until the view sets its own with `useTitle`. */
  title: PlainKey
  /** The default export is the view. */
  load: () => Promise<{ default: ComponentType<ViewProps> }>
}

/** Most visits start at Home, so Home is part of the first load. */
const home = async () => ({ default: Home })

export const views: View[] = [
  { address: '/', section: 'home', title: 'nav.home', isFirst: true, load: home },
  { address: '/share/', title: 'nav.home', load: home },
  { address: '/video/:videoId/', section: 'home', title: 'app.name', load: () => import('../views/video.tsx') },
  { address: '/link/', title: 'link.title', load: () => import('../views/link.tsx') },
  { address: '/welcome/', title: 'welcome.title', load: () => import('../views/welcome.tsx') },
  { address: '/said/', title: 'nav.search', load: () => import('../views/said.tsx') },
  { address: '/search/', title: 'nav.search', load: () => import('../views/search.tsx') },
  {
    address: '/statistics/',
    section: 'statistics',
    title: 'nav.statistics',
    load: () => import('../views/statistics.tsx'),
  },
  { address: '/settings/', section: 'settings', title: 'nav.settings', load: () => import('../views/settings.tsx') },
  {
    address: '/settings/:section/',
    section: 'settings',
    title: 'nav.settings',
    load: () => import('../views/settings.tsx'),
  },
  { address: '/plugin/:plugin/', title: 'app.name', load: () => import('../views/plugin.tsx') },
  {
    address: '/downloads/',
    section: 'downloads',
    title: 'nav.downloads',
    load: () => import('../views/downloads.tsx'),
  },
  { address: '/channels/', section: 'channels', title: 'nav.channels', load: () => import('../views/channels.tsx') },
  {
    address: '/channel/:channelId/',
    section: 'channels',
    title: 'app.name',
    load: () => import('../views/channel.tsx'),
  },
  {
    address: '/playlists/',
    section: 'playlists',
    title: 'nav.playlists',
    load: () => import('../views/playlists.tsx'),
  },
  {
    address: '/playlist/:playlistId/',
    section: 'playlists',
    title: 'app.name',
    load: () => import('../views/playlist.tsx'),
  },
]
