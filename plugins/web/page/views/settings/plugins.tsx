/** Plugins: added and built-in ones, what each brings, and its last failure. */

import { RotateCw } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { get, post } from '../../server/api.ts'
import type { Plugin } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { t, textOf } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { furtherGroups, PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function PluginsSection() {
  const plugins = useLoad<Plugin[]>('settings/plugins', (signal) => get('/api/plugin/', {}, signal))
  return (
    <Loaded from={plugins}>
      {(all) => {
        const added = all.filter((plugin) => !plugin.built_in)
        return (
          <>
            <Group title={t('settings.plugins.added')} hint={t('settings.plugins.added.hint')}>
              {added.length === 0 ? (
                <p class="option-line">{t('settings.plugins.none')}</p>
              ) : (
                <Rows plugins={added} reload={plugins.reload} />
              )}
            </Group>
            <PluginSettings />
            <Group title={t('settings.plugins.builtIn')}>
              <Rows plugins={all.filter((plugin) => plugin.built_in)} reload={plugins.reload} />
            </Group>
          </>
        )
      }}
    </Loaded>
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

const Rows = ({ plugins, reload }: { plugins: Plugin[]; reload: () => Promise<void> }) => (
  <ul class="settings-rows">
    {plugins.map(({ name, version, built_in: isBuiltIn, enabled, stopped, fault, needs, last_failure: failure }) => (
      <li key={name}>
        <div class="row-words">
          <strong>{name}</strong>
          <p class="meta">
            {[
              !enabled &&
                t(stopped ? 'settings.plugins.stopped' : fault ? 'settings.plugins.leftOut' : 'settings.plugins.off'),
              !isBuiltIn && version && t('settings.plugins.version', { version }),
              needs.length > 0 && t('settings.plugins.needs', { names: needs.join(', ') }),
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
          {fault && <p class="bad">{fault}</p>}
          {failure && (
            <p class="bad" title={toMoment(failure.date)}>
              {t('settings.plugins.failed', { when: toAge(failure.date), message: failure.message })}
            </p>
          )}
        </div>
        {stopped && (
          <Button
            icon={RotateCw}
            of={name}
            onClick={async () => {
              await post(`/api/plugin/${name}/start/`, {})
              await reload()
            }}
          >
            {t('settings.plugins.start')}
          </Button>
        )}
      </li>
    ))}
  </ul>
)
