/** Addresses of services that are notified when a task has done something, each with a test button. */
import { BellRing, Plus, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { Outgoing, TaskKind } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { taskTitle, useTaskKinds } from '../../stores/task-kinds.ts'
import { t, textOf } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

/** The occasion of a notification: the page's text, otherwise the task's title. */
const whenOf = (kind: TaskKind): string => textOf(`settings.notify.${kind.name}`, taskTitle(kind))

async function test(task: string, url: string): Promise<void> {
  await post('/api/schedule/notification/test/', { url, task_name: task })
  say(t('settings.notify.delivered'))
}

export function NotificationsSection() {
  const kinds = useTaskKinds()
  const outgoing = useLoad<Outgoing>('settings/outgoing', (signal) => get('/api/schedule/notification/', {}, signal))
  const { reload } = outgoing
  const drop = async (task: string, url: string) => {
    await remove('/api/schedule/notification/', { body: { task_name: task, url } })
    await reload()
    say(t('settings.notify.removed'), {
      undo: () => post('/api/schedule/notification/', { task_name: task, url }).then(reload),
    })
  }
  return (
    <>
      <p class="settings-lead">{t('settings.notify.lead')}</p>
      <Loaded from={kinds} height="240px">
        {(tasks) => <Add tasks={tasks.filter(({ outgoing: tells }) => tells)} reload={reload} />}
      </Loaded>
      <Loaded from={outgoing} height="120px">
        {(all) =>
          Object.entries(all).map(([task, { urls, title }]) => (
            <Group key={task} title={textOf(`settings.notify.${task}`, textOf(`task.${task}`, title))}>
              <ul class="settings-rows">
                {urls.map((url) => (
                  <li key={url}>
                    <code class="row-words">{url}</code>
                    <IconButton
                      icon={BellRing}
                      label={t('settings.notify.testOf', { url })}
                      onClick={() => test(task, url)}
                    />
                    <IconButton
                      icon={Trash}
                      label={t('settings.notify.remove', { url })}
                      onClick={() => drop(task, url)}
                    />
                  </li>
                ))}
              </ul>
            </Group>
          ))
        }
      </Loaded>
    </>
  )
}

function Add({ tasks, reload }: { tasks: TaskKind[]; reload: () => Promise<void> }) {
  const [task, setTask] = useState(tasks[0]?.name ?? '')
  const [url, setUrl] = useState('')
  const form = useForm({
    url: { wrong: url.trim() === '' && t('form.required'), refused: t('settings.notify.bad'), showsRest: true },
  })
  const add = async () => {
    await post('/api/schedule/notification/', { task_name: task, url: url.trim() })
    setUrl(unlessChanged(url, ''))
    await reload()
    say(t('settings.saved'))
  }
  return (
    <Group title={t('settings.notify.new')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <Select
          label={t('settings.notify.when')}
          value={task}
          choices={tasks.map((kind) => ({ value: kind.name, label: whenOf(kind) }))}
          onChange={setTask}
        />
        <Field
          label={t('settings.notify.url')}
          type="url"
          value={url}
          onInput={setUrl}
          autocomplete="off"
          placeholder="ntfy://ntfy.example.org/archive"
          error={form.errors.url}
          hint={<Samples />}
        />
        <div class="buttons">
          <Button kind="main" type="submit" icon={Plus}>
            {t('settings.notify.add')}
          </Button>
          <Button icon={BellRing} isBusy={form.isBusy} onClick={() => form.run(() => test(task, url.trim()))}>
            {t('settings.notify.test')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}

const Samples = () => (
  <>
    {t('settings.notify.samples')} <code>https://example.org/hook</code>,{' '}
    <code>mailto://name:password@example.org</code>
  </>
)
