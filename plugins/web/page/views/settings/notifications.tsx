/** Who is told when a task has done something: addresses of services, each tried by a button. */
import { useState } from 'preact/hooks'
import { BellRing, Plus, Trash } from 'lucide'
import { get, post, remove, toFailure } from '../../api.ts'
import { useLoad } from '../../load.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { say, sayFailure } from '../../parts/toast.tsx'
import { t } from '../../texts.ts'
import { Loaded } from './loaded.tsx'
import { Group } from './option.tsx'

type Outgoing = Record<string, { urls: string[] }>
const TASKS = ['download_pending', 'extract_download', 'update_subscribed', 'check_reindex'] as const
type Task = (typeof TASKS)[number]

async function test(task: Task, url: string): Promise<void> {
  await post('/api/schedule/notification/test/', { url, task_name: task })
  say(t('settings.notify.delivered'))
}

export function NotificationsSection() {
  const outgoing = useLoad<Outgoing>('settings/outgoing', (signal) => get('/api/schedule/notification/', {}, signal))
  return (
    <>
      <p class="settings-lead">{t('settings.notify.lead')}</p>
      <ul class="samples" aria-label={t('settings.notify.samples')}>
        {['ntfy://ntfy.example.org/archive', 'mailto://name:password@example.org', 'https://example.org/hook'].map((sample) => (
          <li key={sample}>
            <code>{sample}</code>
          </li>
        ))}
      </ul>
      <Loaded from={outgoing} height="480px">
        {(all) => TASKS.map((task) => <OfTask key={task} task={task} urls={all[task]?.urls ?? []} reload={outgoing.reload} />)}
      </Loaded>
    </>
  )
}

function OfTask({ task, urls, reload }: { task: Task; urls: string[]; reload: () => Promise<void> }) {
  const [url, setUrl] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  /** What goes wrong is said beside the field. */
  const run = async (action: () => Promise<void>) => {
    if (url.trim() === '') return setError(t('form.required'))
    setBusy(true)
    setError(undefined)
    try {
      await action()
    } catch (thrown) {
      const { fields, message } = toFailure(thrown)
      setError(fields['url'] ? t('settings.notify.bad') : message)
    }
    setBusy(false)
  }
  const add = async () => {
    await post('/api/schedule/notification/', { task_name: task, url: url.trim() })
    setUrl('')
    await reload()
    say(t('settings.saved'))
  }
  const drop = async (gone: string) => {
    await remove('/api/schedule/notification/', { body: { task_name: task, url: gone } })
    await reload()
    say(t('settings.notify.removed'), { undo: () => void post('/api/schedule/notification/', { task_name: task, url: gone }).then(reload, sayFailure) })
  }
  return (
    <Group title={t(`task.${task}`)} hint={t(`settings.notify.${task}`)}>
      {urls.length > 0 && (
        <ul class="settings-rows">
          {urls.map((one) => (
            <li key={one}>
              <code class="row-words">{one}</code>
              <IconButton icon={BellRing} label={t('settings.notify.testOf', { url: one })} onClick={() => void test(task, one).catch(sayFailure)} />
              <IconButton icon={Trash} label={t('settings.notify.remove', { url: one })} onClick={() => void drop(one).catch(sayFailure)} />
            </li>
          ))}
        </ul>
      )}
      <form
        class="option-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void run(add)
        }}
      >
        <Field label={t('settings.notify.url')} type="url" value={url} onInput={setUrl} autocomplete="off" placeholder="ntfy://…" error={error} />
        <div class="buttons">
          <Button type="submit" icon={Plus} isBusy={isBusy}>
            {t('settings.notify.add')}
          </Button>
          <Button kind="quiet" icon={BellRing} disabled={isBusy} onClick={() => void run(() => test(task, url.trim()))}>
            {t('settings.notify.test')}
          </Button>
        </div>
      </form>
    </Group>
  )
}
