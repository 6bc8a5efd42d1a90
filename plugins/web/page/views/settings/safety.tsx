/** Safety: everything needed to recover the archive, and how much of it was read and compared with its checksums. */
import { Check, FilePen, ShieldCheck } from 'lucide'
import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Pages, useLastPage } from '../../parts/pages.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { getPage } from '../../server/paged.ts'
import type { Checksums, FileFault, Page } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { isThere } from '../../stores/left-out.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { toAge, toBytes, toLanguage, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { BackupsGroup } from './backups.tsx'
import { Group } from './option.tsx'
import { PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'
import { SecondSite } from './second-site.tsx'
import { SnapshotsGroup } from './snapshots.tsx'
import { WholeBackupsGroup } from './whole-backups.tsx'

export function SafetySection() {
  return (
    <>
      <p class="settings-lead">{t('settings.safety.lead')}</p>
      {isThere('backup') && <WholeBackupsGroup />}
      {isThere('checksum') && <Checks />}
      <Sidecars />
      {isThere('offsite') && <SecondSite />}
      {isThere('snapshot') && <SnapshotsGroup />}
      {isThere('backup') && <BackupsGroup />}
      <Remedies />
    </>
  )
}

function Checks() {
  const [page, setPage] = useState(1)
  const sums = useLoad<Checksums>('settings/safety', (signal) => get('/api/checksum/', {}, signal))
  const faults = useLoad<Page<FileFault>>(`settings/faults ${page}`, (signal) =>
    getPage('/api/checksum/fault/', { page }, signal),
  )
  useLastPage(faults, page, setPage)
  const reload = async () => void (await Promise.all([sums.reload(), faults.reload()]))
  useJobs(['scrub'], () => void reload())
  return (
    <>
      <Progress sums={sums} />
      <Loaded from={faults} height="120px">
        {({ data, paginate }) =>
          data.length > 0 && (
            <Group title={t('settings.safety.faults')}>
              <ul class="settings-rows">
                {data.map((fault) => (
                  <Row key={`${fault.kind} ${fault.id} ${fault.part}`} fault={fault} reload={reload} />
                ))}
              </ul>
              {(page > 1 || paginate.last_page > page) && (
                <div class="option-foot">
                  <Pages page={page} isMore={paginate.last_page > page} onPage={setPage} />
                </div>
              )}
            </Group>
          )
        }
      </Loaded>
      <Reading />
    </>
  )
}

function Progress({ sums }: { sums: Load<Checksums> }) {
  const scrub = async () => {
    await post('/api/task-name/scrub/')
    say(t('settings.safety.begun'))
    await sums.reload()
  }
  return (
    <Loaded from={sums} height="120px">
      {({ is_running: isRunning, ...now }) => (
        <Group title={t('settings.safety.files')} hint={t('settings.safety.files.hint')}>
          <p class="option-line">{inSentences(now)}</p>
          <div class="option-foot">
            <Button icon={ShieldCheck} isBusy={isRunning} onClick={() => scrub()}>
              {t('settings.safety.scrub')}
            </Button>
          </div>
        </Group>
      )}
    </Loaded>
  )
}

/** Sentences about how much was read, when, and what was found. */
export function inSentences({ files, bytes, read, oldest, alarms }: Omit<Checksums, 'is_running'>): string {
  if (files === 0) return t('settings.safety.none')
  return [
    t('settings.safety.read', {
      read: toBytes(read),
      bytes: toBytes(bytes),
      percent: toNumber(bytes === 0 ? 0 : Math.floor((read / bytes) * 100)),
    }),
    oldest === 0 ? t('settings.safety.never') : t('settings.safety.oldest', { age: toAge(oldest ?? 0) }),
    alarms > 0 ? t('settings.safety.alarms', { count: alarms }) : t('settings.safety.whole'),
  ].join(' ')
}

function Row({ fault, reload }: { fault: FileFault; reload: () => Promise<void> }) {
  const { kind, id, part, title, state, found, mending } = fault
  const name = kind === 'subtitle' ? t('settings.safety.subtitle', { title, language: toLanguage(part) }) : title
  const accept = async () => {
    const isSure = await confirm({
      title: t('settings.safety.accept.title', { name }),
      text: <p>{t(state === 'missing' ? 'settings.safety.accept.missing' : 'settings.safety.accept.text')}</p>,
      action: t('settings.safety.accept'),
    })
    if (!isSure) return
    await post('/api/checksum/fault/', { command: 'accept', kind, id, part })
    await reload()
  }
  const isBad = state === 'rotten' || state === 'unreadable'
  return (
    <li>
      <div class="row-words">
        <strong dir="auto">{name}</strong>
        <p class={isBad ? 'meta bad' : 'meta'}>
          {t(`settings.safety.kind.${kind}`)} · {t(`settings.safety.state.${state}`)} · {toAge(found)}
          {mending && ` · ${t('settings.safety.mending')}`}
        </p>
      </div>
      <IconButton icon={Check} label={t('settings.safety.acceptOf', { name })} onClick={() => accept()} />
    </li>
  )
}

function Reading() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences} height="120px">
      {() => (
        <Group title={t('settings.safety.reading')}>
          <PreferenceGroup preferences={preferences} group="reading" />
        </Group>
      )}
    </Loaded>
  )
}

function Sidecars() {
  const preferences = usePreferences()
  const write = async () => {
    await post('/api/task-name/write_sidecars/')
    say(t('settings.safety.sidecars.begun'))
  }
  return (
    <Loaded from={preferences} height="120px">
      {({ sidecars }) =>
        // Undefined if the plugin is missing.
        sidecars !== undefined && (
          <Group title={t('settings.safety.sidecars')}>
            <PreferenceGroup preferences={preferences} group="sidecars" />
            <div class="option-foot">
              <Button icon={FilePen} onClick={() => write()}>
                {t('settings.safety.sidecars.write')}
              </Button>
            </div>
          </Group>
        )
      }
    </Loaded>
  )
}

/** Kinds of losses, as in config/upkeep.md; each of its rows is tested. */
const LOST = ['index', 'ledger', 'folder', 'film', 'disks'] as const

function Remedies() {
  return (
    <Group title={t('settings.safety.lost')}>
      <dl class="remedies">
        {LOST.map((what) => (
          <Fragment key={what}>
            <dt>{t(`settings.safety.lost.${what}`)}</dt>
            <dd>{t(`settings.safety.remedy.${what}`)}</dd>
          </Fragment>
        ))}
      </dl>
    </Group>
  )
}
