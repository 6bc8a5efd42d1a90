/** Health: a light for each part of the downloader, and the remedy for a red one. */
import type { IconNode } from 'lucide'
import { Circle, CircleAlert, CircleCheck, RefreshCw } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Checksums, DataFolder, Health, MediaServer, PlatformState } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { isThere } from '../../stores/left-out.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment, toNumber, toSpan } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { inSentences } from './safety.tsx'
import { offsiteWords, useOffsite } from './second-site.tsx'
import { rehearsalWords, useWhole } from './whole-backups.tsx'

/** `open`: neither good nor bad. */
type Level = 'good' | 'bad' | 'open'
const ICONS: Record<Level, IconNode> = { good: CircleCheck, bad: CircleAlert, open: Circle }

interface Light {
  title: string
  level: Level
  text: string
  link?: { to: string; text: string }
}

export function HealthSection() {
  const platform = useLoad<PlatformState>('settings/health', (signal) => get('/api/platform/', {}, signal))
  useJobs(['update_downloader'], () => void platform.reload())
  const update = async () => {
    await post('/api/platform/', { command: 'update' })
    say(t('settings.health.update.begun'))
    await platform.reload()
  }
  return (
    <>
      <p class="settings-lead">{t('settings.health.lead')}</p>
      <Loaded from={platform}>
        {({ health, said }) => (
          <Group title={t('settings.health.parts')}>
            <ul class="settings-rows health">
              {lightsOf(health, said).map((light) => (
                <Row key={light.title} {...light} />
              ))}
            </ul>
            <div class="option-foot">
              <Button icon={RefreshCw} isBusy={health.downloader.state === 'updating'} onClick={update}>
                {t('settings.health.update')}
              </Button>
            </div>
          </Group>
        )}
      </Loaded>
      {isThere('backup') && <RehearsalLight />}
      {isThere('checksum') && <SafetyLights />}
      {isThere('offsite') && <SecondSiteLight />}
      {isThere('storage') && <DataFolderLight />}
      {isThere('faces') && <MediaServerLights />}
    </>
  )
}

/** Whether all files have been read, and match their checksums. */
function SafetyLights() {
  const sums = useLoad<Checksums>('settings/safety', (signal) => get('/api/checksum/', {}, signal))
  return (
    <Loaded from={sums}>
      {(now) => (
        <Group title={t('settings.safety')}>
          <ul class="settings-rows health">
            <Row
              title={t('settings.safety.files')}
              level={now.alarms > 0 ? 'bad' : now.oldest === 0 || now.oldest === null ? 'open' : 'good'}
              text={inSentences(now)}
              link={{ to: '/settings/safety/', text: t('settings.safety') }}
            />
          </ul>
        </Group>
      )}
    </Loaded>
  )
}

/** Whether whole backups are made, and a rehearsal could restore one. */
function RehearsalLight() {
  const whole = useWhole()
  return (
    <Loaded from={whole}>
      {(now) => {
        const { failure, succeeded } = now.rehearsal
        const isBad = failure !== '' || now.backup.failure !== ''
        return (
          <Group title={t('settings.whole')}>
            <ul class="settings-rows health">
              <Row
                title={t('settings.whole.light')}
                level={isBad ? 'bad' : succeeded === null ? 'open' : 'good'}
                text={rehearsalWords(now)}
                link={{ to: '/settings/safety/', text: t('settings.safety') }}
              />
            </ul>
          </Group>
        )
      }}
    </Loaded>
  )
}

/** Whether the second site has a backup, and neither backup nor check has failed. */
function SecondSiteLight() {
  const site = useOffsite()
  return (
    <Loaded from={site}>
      {(now) => {
        const isBad = now.backup.failure !== '' || now.check.failure !== ''
        return (
          <Group title={t('settings.offsite')}>
            <ul class="settings-rows health">
              <Row
                title={t('settings.offsite.light')}
                level={isBad ? 'bad' : now.backup.succeeded === null ? 'open' : 'good'}
                text={offsiteWords(now)}
                link={{ to: '/settings/safety/', text: t('settings.safety') }}
              />
            </ul>
          </Group>
        )
      }}
    </Loaded>
  )
}

/** Whether the data folder is on a file system that is safe for the database. */
function DataFolderLight() {
  const folder = useLoad<DataFolder>('settings/data-folder', (signal) => get('/api/storage/data/', {}, signal))
  return (
    <Loaded from={folder}>
      {({ share }) => (
        <Group title={t('settings.health.data')}>
          <ul class="settings-rows health">
            <Row
              title={t('settings.health.data.disk')}
              level={share === null ? 'good' : 'bad'}
              text={share === null ? t('settings.health.data.good') : t('settings.health.data.share', { share })}
            />
          </ul>
        </Group>
      )}
    </Loaded>
  )
}

/** Media servers that are notified of changes. */
function MediaServerLights() {
  const servers = useLoad<MediaServer[]>('settings/media-servers', (signal) => get('/api/face/server/', {}, signal))
  return <Loaded from={servers}>{(all) => (all.length === 0 ? null : <Servers servers={all} />)}</Loaded>
}

const Servers = ({ servers }: { servers: MediaServer[] }) => (
  <Group title={t('settings.faces')}>
    <ul class="settings-rows health">
      {servers.map(({ id, name, error, said, asked = 0, is_on: isOn }) => (
        <Row
          key={id}
          title={name}
          level={!isOn || asked === 0 ? 'open' : error === '' ? 'good' : 'bad'}
          text={error === '' ? t('settings.servers.asked', { when: toAge(asked) }) : inWords(error, said)}
          link={{ to: '/settings/faces/', text: t('settings.faces') }}
        />
      ))}
    </ul>
  </Group>
)

function Row({ title, level, text, link }: Light) {
  return (
    <li class={level}>
      <Icon node={ICONS[level]} />
      <div class="row-words">
        <strong>{title}</strong>
        <span class="unseen"> {t(`settings.health.${level}`)}</span>
        <p class="meta">
          {text} {link && <a href={under(link.to)}>{link.text}</a>}
        </p>
      </div>
    </li>
  )
}

const lightsOf = (health: Health, said: PlatformState['said']): Light[] => [
  { title: t('settings.health.downloader'), ...downloaderLight(health.downloader, said) },
  { title: t('settings.health.solver'), ...solverLight(health.solver) },
  { title: t('settings.health.runtime'), ...runtimeLight(health.runtime) },
  { title: t('settings.health.token'), ...tokenLight(health.token_provider) },
  { title: t('settings.health.budget'), ...budgetLight(health.budget) },
  { title: t('settings.health.cookie'), ...cookieLight(health.cookie) },
]

function downloaderLight(downloader: Health['downloader'], said: PlatformState['said']): Omit<Light, 'title'> {
  const { state, version, age_days: days, checked, next_check: next, tried } = downloader
  const message = inWords(downloader.message, said)
  if (state === 'missing') return { level: 'bad', text: t('welcome.tool.ytdlp.missing') }
  const age = t('settings.health.downloader.age', { version, count: days })
  const postponed = message && t('settings.health.downloader.postponed', { message })
  switch (state) {
    case 'updating':
      return { level: 'open', text: `${age} ${t('settings.health.downloader.updating')}` }
    case 'refused':
      return { level: 'bad', text: `${age} ${t('settings.health.downloader.refused', { tried, message })}` }
    case 'failed':
      return { level: 'bad', text: `${age} ${t('settings.health.downloader.failed', { message })}` }
    case 'old':
      return { level: 'bad', text: `${age} ${postponed || t('settings.health.downloader.old')}` }
    case 'current': {
      const facts = [
        checked > 0 && t('settings.health.downloader.checked', { age: toAge(checked) }),
        next > 0 && t('settings.health.downloader.next', { age: toAge(next) }),
        postponed,
      ]
      return { level: postponed ? 'open' : 'good', text: [age, ...facts].filter(Boolean).join(' ') }
    }
  }
}

function solverLight({ state, version, wanted }: Health['solver']): Omit<Light, 'title'> {
  switch (state) {
    case 'works':
      return { level: 'good', text: t('settings.health.solver.works', { version }) }
    case 'untried':
      return { level: 'open', text: t('settings.health.untried') }
    default:
      return { level: 'bad', text: t(`settings.health.solver.${state}`, { version, wanted }) }
  }
}

function runtimeLight({ state, name, version, solved_ms: ms, message }: Health['runtime']): Omit<Light, 'title'> {
  const program = `${name} ${version}`
  switch (state) {
    case 'works':
      return {
        level: 'good',
        text: t('settings.health.runtime.works', { program, milliseconds: toNumber(ms) }),
      }
    case 'missing':
      return { level: 'bad', text: t('settings.health.runtime.missing') }
    case 'untried':
      return { level: 'open', text: t('settings.health.untried') }
    default:
      return { level: 'bad', text: t(`settings.health.runtime.${state}`, { program, message }) }
  }
}

const TO_DOWNLOADS = '/settings/downloads/'

function tokenLight({ state, address, last_token: last, message }: Health['token_provider']): Omit<Light, 'title'> {
  const link = { to: TO_DOWNLOADS, text: t('settings.health.token.link') }
  switch (state) {
    case 'works':
      return { level: 'good', text: t('settings.health.token.works', { address, age: toAge(last) }) }
    case 'failed':
      return { level: 'bad', text: t('settings.health.token.failed', { address, message }), link }
    default:
      return { level: state === 'none' ? 'open' : 'good', text: t(`settings.health.token.${state}`, { address }) }
  }
}

/**
 * One light for the request budgets of the address and the cookie; the cookie's is mentioned only if it is a problem.
 */
function budgetLight({ address, cookie }: Health['budget']): Omit<Light, 'title'> {
  const link = { to: TO_DOWNLOADS, text: t('settings.health.token.link') }
  const byAddress = limitOf(address)
  const byCookie = cookie ? limitOf(cookie) : undefined
  if (byCookie?.level !== 'bad') return byAddress.level === 'bad' ? { ...byAddress, link } : byAddress
  const text = t('settings.health.budget.account', { text: byCookie.text })
  return { level: 'bad', text: byAddress.level === 'bad' ? `${byAddress.text} ${text}` : text, link }
}

function limitOf({ used, limit, learned }: Health['budget']['address']): { level: Level; text: string } {
  if (limit === null) return { level: 'good', text: t('settings.health.budget.none', { count: used }) }
  const words = { used: toNumber(used), limit: toNumber(limit) }
  if (learned) return { level: 'bad', text: t('settings.health.budget.learned', words) }
  if (used >= limit) return { level: 'bad', text: t('settings.health.budget.used', words) }
  return { level: 'good', text: t('settings.health.budget.good', words) }
}

function cookieLight({ state, stored, ended, checked, lived }: Health['cookie']): Omit<Light, 'title'> {
  const link = { to: '/settings/cookie/', text: t('settings.health.cookie.link') }
  const lives = lived.length > 0 ? ` ${t('settings.health.cookie.lived', { spans: lived.map(toSpan).join(', ') })}` : ''
  switch (state) {
    case 'valid':
      return {
        level: 'good',
        text: `${stored > 0 ? t('settings.health.cookie.valid', { age: toAge(stored), when: toMoment(checked) }) : t('settings.cookie.good', { when: toMoment(checked) })}${lives}`,
      }
    case 'invalid':
      return {
        level: 'bad',
        text: `${t('settings.health.cookie.invalid', { age: toAge(ended > 0 ? ended : checked) })}${lives}`,
        link,
      }
    default:
      return { level: 'open', text: `${t(`settings.health.cookie.${state}`)}${lives}`, link }
  }
}
