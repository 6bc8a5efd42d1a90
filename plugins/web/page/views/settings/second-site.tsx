/** Safety: the second site with its last backup and check, and what to do next. */
import { Archive, CloudUpload, Plug, RotateCcw } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import type { Offsite } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export const useOffsite = () => useLoad<Offsite>('settings/offsite', (signal) => get('/api/offsite/', {}, signal))

export function SecondSite() {
  const preferences = usePreferences()
  const site = useOffsite()
  useJobs(['back_up_offsite', 'check_offsite'], () => void site.reload())
  const begin = async (task: 'back_up_offsite' | 'check_offsite') => {
    await post(`/api/task-name/${task}/`)
    say(t('settings.offsite.begun'))
    await site.reload()
  }
  const test = async () => {
    await post('/api/offsite/test/')
    say(t('settings.offsite.tested'))
  }
  const restore = async () => {
    const isSure = await confirm({
      title: t('settings.offsite.restore.title'),
      text: <p>{t('settings.offsite.restore.text')}</p>,
      action: t('settings.offsite.restore'),
    })
    if (!isSure) return
    await post('/api/offsite/restore/', {})
    say(t('settings.offsite.begun'))
  }
  return (
    <Group title={t('settings.offsite')}>
      <Loaded from={site} height="60px">
        {(now) => (
          <>
            <p class="option-line">{offsiteWords(now)}</p>
            {now.is_set && now.restic !== null && (
              <div class="option-foot">
                <Button icon={Plug} onClick={test}>
                  {t('settings.offsite.test')}
                </Button>
                <Button icon={CloudUpload} isBusy={now.is_running} onClick={() => begin('back_up_offsite')}>
                  {t('settings.offsite.now')}
                </Button>
                <Button icon={Archive} onClick={() => begin('check_offsite')}>
                  {t('settings.offsite.check')}
                </Button>
                <Button icon={RotateCcw} onClick={restore}>
                  {t('settings.offsite.restore')}
                </Button>
              </div>
            )}
          </>
        )}
      </Loaded>
      <Loaded from={preferences} height="120px">
        {() => <PreferenceGroup preferences={preferences} group="offsite" />}
      </Loaded>
    </Group>
  )
}

/** Sentences about the backup at the second site, its age, and what has failed. */
export function offsiteWords({ is_set: isSet, restic, backup, check, said }: Offsite): string {
  if (restic === null) return t('settings.offsite.missing')
  if (!isSet) return t('settings.offsite.unset')
  const { succeeded, failure, failing_since: since, files, bytes, unread } = backup
  return [
    succeeded === null
      ? t('settings.offsite.never')
      : t('settings.offsite.last', { age: toAge(succeeded), count: files, bytes: toBytes(bytes) }),
    unread > 0 && t('settings.offsite.unread', { count: unread }),
    failure !== '' && t('settings.offsite.failed', { age: toAge(since ?? 0), reason: inWords(failure, said) }),
    check.succeeded !== null && t('settings.offsite.checked', { age: toAge(check.succeeded) }),
    check.failure !== '' && t('settings.offsite.damaged', { reason: inWords(check.failure, said) }),
  ]
    .filter((one) => typeof one === 'string')
    .join(' ')
}
