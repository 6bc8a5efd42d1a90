/** Snapshots: every document as it was on a day, kept on this machine; taken, restored, deleted. */
import { Camera, RotateCcw, Trash } from 'lucide'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { get, post, remove } from '../../server/api.ts'
import type { Snapshot, Snapshots } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { toAge, toMoment, toSpan } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { useConfig } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Group } from './option.tsx'
import { Preference } from './preference.tsx'

const whenOf = ({ end_stamp: end, start_date: start }: Snapshot): string => (end ? toMoment(end) : start)

export function SnapshotsSection() {
  const list = useLoad<Snapshots>('settings/snapshots', (signal) => get('/api/snapshot/', {}, signal))
  const config = useConfig()
  useJobs(['create_snapshot', 'restore_snapshot'], () => void list.reload())
  const take = async () => {
    await post('/api/snapshot/')
    say(t('settings.snapshots.taking'))
    await list.reload()
  }
  const restore = async (one: Snapshot) => {
    const text = (
      <>
        <p>{t('settings.snapshots.restore.goes', { when: whenOf(one) })}</p>
        <p>{t('settings.restore.stays')}</p>
      </>
    )
    if (
      !(await confirm({
        title: t('settings.snapshots.restore.title'),
        text,
        action: t('settings.snapshots.restore'),
        isDangerous: true,
      }))
    )
      return
    await post(`/api/snapshot/${one.id}/`)
    forget()
    say(t('settings.restore.begun'))
  }
  const drop = async (one: Snapshot) => {
    const text = <p>{t('settings.snapshots.delete.text', { when: whenOf(one) })}</p>
    if (
      !(await confirm({
        title: t('settings.snapshots.delete.title'),
        text,
        action: t('action.delete'),
        isDangerous: true,
      }))
    )
      return
    await remove(`/api/snapshot/${one.id}/`)
    await list.reload()
    say(t('settings.snapshots.deleted'))
  }
  return (
    <>
      <p class="settings-lead">{t('settings.snapshots.lead')}</p>
      <Loaded from={config} height="120px">
        {() => (
          <Group title={t('settings.snapshots.daily')}>
            <Preference
              config={config}
              name="application.enable_snapshot"
              more={
                list.now.value.value?.next_exec
                  ? t('settings.snapshots.next', {
                      when: toMoment(list.now.value.value.next_exec),
                      age: toAge(list.now.value.value.next_exec),
                      count: Number.parseInt(list.now.value.value.expire_after, 10),
                    })
                  : t('settings.snapshots.off')
              }
              onSave={async (isOn) => {
                await config.save({ application: { enable_snapshot: isOn === true } })
                await list.reload()
              }}
            />
          </Group>
        )}
      </Loaded>
      <Loaded from={list}>
        {({ snapshots }) => (
          <Group title={t('settings.snapshots.kept')}>
            {snapshots.length === 0 && <p class="option-line">{t('settings.snapshots.none')}</p>}
            <ul class="settings-rows">
              {snapshots.map((one) => (
                <li key={one.id}>
                  <div class="row-words">
                    <strong>{whenOf(one)}</strong>
                    <p class={one.state === 'FAILED' || one.state === 'PARTIAL' ? 'meta bad' : 'meta'}>
                      {t(`settings.snapshots.state.${one.state}`)}
                      {one.state === 'SUCCESS' && ` · ${toAge(one.end_stamp)} · ${toSpan(one.duration_s)}`}
                    </p>
                  </div>
                  {one.state === 'SUCCESS' && (
                    <IconButton
                      icon={RotateCcw}
                      label={t('settings.snapshots.restoreOf', { when: whenOf(one) })}
                      onClick={() => void restore(one).catch(sayFailure)}
                    />
                  )}
                  {one.state !== 'IN_PROGRESS' && (
                    <IconButton
                      icon={Trash}
                      label={t('settings.snapshots.deleteOf', { when: whenOf(one) })}
                      onClick={() => void drop(one).catch(sayFailure)}
                    />
                  )}
                </li>
              ))}
            </ul>
            <div class="option-foot">
              <Button
                icon={Camera}
                disabled={snapshots.some(({ state }) => state === 'IN_PROGRESS')}
                onClick={() => void take().catch(sayFailure)}
              >
                {t('settings.snapshots.take')}
              </Button>
            </div>
          </Group>
        )}
      </Loaded>
    </>
  )
}
