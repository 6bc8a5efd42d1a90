/** Plugins: added and built-in ones, their features and latest errors; switched on and off, added and removed. */
import { Plus, RotateCw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Plugin } from '../../server/records.ts'
import { taskOver } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { inWords, t, textOf } from '../../texts/lookup.ts'
import { Group, SwitchOption } from './option.tsx'
import { furtherGroups, PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function PluginsSection() {
  const plugins = useLoad<Plugin[]>('settings/plugins', (signal) => get('/api/plugin/', {}, signal))
  return (
    <Loaded from={plugins}>
      {(all) => {
        const outside = all.filter((plugin) => !plugin.built_in)
        return (
          <>
            {outside.map((plugin) => (
              <One key={plugin.name} plugin={plugin} reload={plugins.reload} />
            ))}
            <AddPlugin />
            <PluginSettings />
            <Group title={t('settings.plugins.builtIn')}>
              <BuiltIn plugins={all.filter((plugin) => plugin.built_in)} />
            </Group>
          </>
        )
      }}
    </Loaded>
  )
}

/** Waits for the job that changes the installed plugins; its result tells what to do next. */
async function changed(begun: Promise<{ task_id: string }>): Promise<void> {
  const { task_id: id } = await begun
  const { status, result, said } = await taskOver(id)
  say(inWords(result ?? '', said), { isError: status !== 'SUCCESS' })
}

function One({ plugin, reload }: { plugin: Plugin; reload: () => Promise<void> }) {
  const { name, title = name, description, enabled, stopped, fault, added, switched_off: isSwitchedOff } = plugin
  const path = `/api/plugin/${name}/`
  const drop = async () => {
    const isSure = await confirm({
      title: t('settings.plugins.remove.title', { name: title }),
      text: <p>{t('settings.plugins.remove.text')}</p>,
      action: t('settings.plugins.remove'),
    })
    if (isSure) await changed(remove(path))
  }
  const isChangeable = enabled || stopped || isSwitchedOff || fault !== undefined
  return (
    <Group title={title} {...(description && { hint: description })}>
      {isChangeable ? (
        <SwitchOption
          label={t('settings.plugins.on', { name: title })}
          {...(isSwitchedOff && { hint: t('settings.plugins.on.hint') })}
          value={isSwitchedOff !== true}
          onSave={async (wanted) => {
            await post(path, { enabled: wanted })
            await reload()
          }}
        />
      ) : (
        <p class="option-line">{t('settings.plugins.off')}</p>
      )}
      <div class="option-form">
        <About plugin={plugin} />
        <Brought plugin={plugin} />
        <Troubles plugin={plugin} />
        <div class="buttons">
          {stopped && (
            <Button
              icon={RotateCw}
              of={title}
              onClick={async () => {
                await post(`${path}start/`, {})
                await reload()
              }}
            >
              {t('settings.plugins.start')}
            </Button>
          )}
          {added && (
            <>
              <Button icon={RotateCw} of={title} onClick={() => changed(post(`${path}update/`, {}))}>
                {t('settings.plugins.update')}
              </Button>
              <Button icon={Trash} of={title} onClick={drop}>
                {t('settings.plugins.remove')}
              </Button>
            </>
          )}
        </div>
      </div>
    </Group>
  )
}

function About({ plugin: { name, version, author, homepage, needs } }: { plugin: Plugin }) {
  const words = [
    name,
    version && t('settings.plugins.version', { version }),
    author && t('settings.plugins.author', { name: author }),
    needs.length > 0 && t('settings.plugins.needs', { names: needs.join(', ') }),
  ].filter(Boolean)
  return (
    <p class="meta">
      {words.join(' · ')}
      {homepage && (
        <>
          {' · '}
          <a href={homepage} target="_blank" rel="noopener noreferrer">
            {t('settings.plugins.homepage')}
          </a>
        </>
      )}
    </p>
  )
}

function Brought({ plugin: { name, enabled, brings } }: { plugin: Plugin }) {
  if (!brings || !enabled) return null
  const { page, button, tasks, preferences } = brings
  if (!page && !button && tasks.length === 0 && preferences.length === 0) return null
  return (
    <ul class="meta">
      {page && (
        <li>
          <a href={under(`/plugin/${name}/`)}>{t('settings.plugins.page')}</a>
        </li>
      )}
      {button && <li>{t('settings.plugins.button')}</li>}
      {tasks.length > 0 && (
        <li>
          <a href={under('/settings/tasks/')}>
            {t('settings.plugins.tasks', {
              names: tasks.map((task) => textOf(`task.${task.name}`, task.title)).join(', '),
            })}
          </a>
        </li>
      )}
      {preferences.length > 0 && <li>{t('settings.plugins.preferences')}</li>}
    </ul>
  )
}

function Troubles({ plugin: { enabled, stopped, fault, last_failure: failure } }: { plugin: Plugin }) {
  return (
    <>
      {!enabled && (stopped || fault) && (
        <p class="bad">{t(stopped ? 'settings.plugins.stopped' : 'settings.plugins.leftOut')}</p>
      )}
      {fault && <p class="bad">{fault}</p>}
      {failure && (
        <p class="bad" title={toMoment(failure.date)}>
          {t('settings.plugins.failed', { when: toAge(failure.date), message: failure.message })}
        </p>
      )}
    </>
  )
}

function AddPlugin() {
  const [name, setName] = useState('')
  const form = useForm({
    package: { wrong: name.trim() === '' && t('form.required'), refused: t('settings.plugins.add.bad') },
  })
  const add = async () => {
    await changed(post('/api/plugin/', { package: name.trim() }))
    setName(unlessChanged(name, ''))
  }
  return (
    <Group title={t('settings.plugins.add')} hint={t('settings.plugins.add.hint')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <p class="notice">{t('settings.plugins.add.warning')}</p>
        <Field
          name="package"
          label={t('settings.plugins.add.package')}
          placeholder="archivolt-plugin-tide"
          value={name}
          error={form.errors.package}
          onInput={setName}
        />
        {form.refusal}
        <div class="buttons">
          <Button kind="main" icon={Plus} type="submit">
            {t('settings.plugins.add')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}

/** Preferences of plugins that no other section shows. */
function PluginSettings() {
  const preferences = usePreferences()
  if (!preferences.now.value.value) return null
  return (
    <>
      {furtherGroups().map((group) => (
        <Group key={group} title={textOf(`preference.${group}`, group)}>
          <PreferenceGroup preferences={preferences} group={group} />
        </Group>
      ))}
    </>
  )
}

const BuiltIn = ({ plugins }: { plugins: Plugin[] }) => (
  <ul class="settings-rows">
    {plugins.map((plugin) => (
      <li key={plugin.name}>
        <div class="row-words">
          <strong>{plugin.name}</strong>
          <p class="meta">
            {[
              !plugin.enabled && t('settings.plugins.off'),
              plugin.needs.length > 0 && t('settings.plugins.needs', { names: plugin.needs.join(', ') }),
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
          <Troubles plugin={plugin} />
        </div>
      </li>
    ))}
  </ul>
)
