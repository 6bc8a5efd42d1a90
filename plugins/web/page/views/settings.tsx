/** Settings: sections with their own addresses. Changes are saved immediately. */

import type { IconNode } from 'lucide'
import {
  Bell,
  CalendarClock,
  ChevronLeft,
  Cookie,
  Download,
  FolderInput,
  HeartPulse,
  ListChecks,
  ListFilter,
  MonitorPlay,
  Palette,
  Puzzle,
  ShieldCheck,
  Smartphone,
  Tags,
  Trash2,
  Tv,
  TvMinimalPlay,
  UserRound,
  Users,
  Webhook,
} from 'lucide'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ViewProps } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Icon } from '../parts/icon.tsx'
import { Empty } from '../parts/states.tsx'
import { under } from '../server/base.ts'
import { isThere } from '../stores/left-out.ts'
import { isAdmin, mayDownload, version } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { AccountSection } from './settings/account.tsx'
import { AppearanceSection } from './settings/appearance.tsx'
import { BinSection } from './settings/bin.tsx'
import { CookieSection } from './settings/cookie.tsx'
import { DeviceSection } from './settings/device.tsx'
import { DownloadsSection } from './settings/downloads.tsx'
import { FacesSection } from './settings/faces.tsx'
import { FindSetting } from './settings/find-setting.tsx'
import { GroupsSection } from './settings/groups.tsx'
import { HealthSection } from './settings/health.tsx'
import { ImportSection } from './settings/import.tsx'
import { NotificationsSection } from './settings/notifications.tsx'
import { PlaybackSection } from './settings/playback.tsx'
import { PluginsSection } from './settings/plugins.tsx'
import { RulesSection } from './settings/rules.tsx'
import { SafetySection } from './settings/safety.tsx'
import { SchedulesSection } from './settings/schedules.tsx'
import { SubscriptionsSection } from './settings/subscriptions.tsx'
import { TasksSection } from './settings/tasks.tsx'
import { UsersSection } from './settings/users.tsx'
import { WebhooksSection } from './settings/webhooks.tsx'

type Key =
  | 'account'
  | 'appearance'
  | 'device'
  | 'downloads'
  | 'subscriptions'
  | 'groups'
  | 'rules'
  | 'playback'
  | 'import'
  | 'faces'
  | 'cookie'
  | 'health'
  | 'schedules'
  | 'notifications'
  | 'webhooks'
  | 'tasks'
  | 'bin'
  | 'safety'
  | 'users'
  | 'plugins'
interface Section {
  key: Key
  /** The plugin that the section needs, which may be switched off. */
  plugin?: string
  icon: IconNode
  Body: ComponentType
  /** In the groups for admins: also shown to accounts that may download. */
  isForDownloaders?: true
}
const GROUPS: Array<{ key: 'you' | 'archive' | 'upkeep'; isForAdmins: boolean; sections: Section[] }> = [
  {
    key: 'you',
    isForAdmins: false,
    sections: [
      { key: 'account', icon: UserRound, Body: AccountSection },
      { key: 'appearance', icon: Palette, Body: AppearanceSection },
      { key: 'device', icon: Smartphone, Body: DeviceSection },
    ],
  },
  {
    key: 'archive',
    isForAdmins: true,
    sections: [
      { key: 'downloads', icon: Download, Body: DownloadsSection },
      { key: 'subscriptions', plugin: 'subscription', icon: TvMinimalPlay, Body: SubscriptionsSection },
      { key: 'groups', plugin: 'rules', icon: Tags, Body: GroupsSection },
      { key: 'rules', plugin: 'rules', icon: ListFilter, Body: RulesSection, isForDownloaders: true },
      { key: 'playback', icon: MonitorPlay, Body: PlaybackSection },
      { key: 'import', plugin: 'adoption', icon: FolderInput, Body: ImportSection },
      { key: 'faces', plugin: 'faces', icon: Tv, Body: FacesSection },
      { key: 'cookie', plugin: 'cookie', icon: Cookie, Body: CookieSection },
      { key: 'health', icon: HeartPulse, Body: HealthSection },
      { key: 'schedules', icon: CalendarClock, Body: SchedulesSection },
      { key: 'notifications', icon: Bell, Body: NotificationsSection },
      { key: 'webhooks', plugin: 'webhooks', icon: Webhook, Body: WebhooksSection },
    ],
  },
  {
    key: 'upkeep',
    isForAdmins: true,
    sections: [
      { key: 'tasks', icon: ListChecks, Body: TasksSection },
      { key: 'safety', icon: ShieldCheck, Body: SafetySection },
      { key: 'bin', plugin: 'bin', icon: Trash2, Body: BinSection },
      { key: 'users', icon: Users, Body: UsersSection },
      { key: 'plugins', icon: Puzzle, Body: PluginsSection },
    ],
  },
]

/** Former names of sections, so that old links still work. */
const FORMER: Record<string, Key> = { moving: 'import', look: 'appearance', snapshots: 'safety', backups: 'safety' }

/** If the address has no section, a phone shows the list of sections, and a wide screen also the first section. */
export default function Settings({ params }: ViewProps) {
  const groups = GROUPS.map((group) => ({
    ...group,
    sections: group.sections.filter(
      ({ plugin, isForDownloaders }) =>
        (!group.isForAdmins || isAdmin.value || (isForDownloaders && mayDownload.value)) &&
        (plugin === undefined || isThere(plugin)),
    ),
  })).filter(({ sections }) => sections.length > 0)
  const sections = groups.flatMap((group) => group.sections)
  const asked = params['section']
  const chosen = asked !== undefined && Object.hasOwn(FORMER, asked) ? FORMER[asked] : asked
  const section = chosen === undefined ? sections[0] : sections.find(({ key }) => key === chosen)
  useTitle(
    chosen === undefined ? t('nav.settings') : section && `${t(`settings.${section.key}`)} – ${t('nav.settings')}`,
  )
  const here = useRef<HTMLAnchorElement>(null)
  useEffect(() => here.current?.scrollIntoView({ block: 'nearest' }), [section])
  if (!section) {
    return (
      <>
        <h1 class="unseen">{t('nav.settings')}</h1>
        <Empty title={t('settings.unknown')}>
          <a class="button main" href={under('/settings/')}>
            {t('nav.settings')}
          </a>
        </Empty>
      </>
    )
  }
  const { key, Body } = section
  const title = t(`settings.${key}`)
  return (
    <div class={chosen === undefined ? 'settings bare' : 'settings'}>
      <nav class="settings-nav" aria-label={t('settings.sections')}>
        {chosen === undefined ? <h1>{t('nav.settings')}</h1> : <p class="settings-name">{t('nav.settings')}</p>}
        <FindSetting sections={new Map(sections.map((one) => [one.key, t(`settings.${one.key}`)]))}>
          {groups.map((group) => (
            <div key={group.key}>
              <p id={`settings-${group.key}`}>{t(`settings.group.${group.key}`)}</p>
              <ul aria-labelledby={`settings-${group.key}`}>
                {group.sections.map((one) => (
                  <li key={one.key}>
                    <a
                      ref={one.key === key ? here : undefined}
                      href={under(`/settings/${one.key}/`)}
                      aria-current={one.key === key ? 'page' : undefined}
                    >
                      <Icon node={one.icon} />
                      {t(`settings.${one.key}`)}
                    </a>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </FindSetting>
        <p class="meta">
          {t('app.name')} {version.value}
        </p>
      </nav>
      <div class="settings-body">
        <a class="settings-back" href={under('/settings/')}>
          <Icon node={ChevronLeft} />
          {t('nav.settings')}
        </a>
        {chosen === undefined ? <h2 class="settings-title">{title}</h2> : <h1 class="settings-title">{title}</h1>}
        <Body key={key} />
      </div>
    </div>
  )
}
