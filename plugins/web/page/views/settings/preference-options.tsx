/** Renders preferences as their plugins declare them: one by its name, or a whole group. */
import { BellRing } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Button } from '../../parts/button.tsx'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import { inWords, t, textOf } from '../../texts/lookup.ts'
import type { OptionSchema } from './option-schema.ts'
import { type OpenPreferences, preferenceSchema, preferencesByGroup } from './preferences.ts'
import { SchemaOption } from './schema-option.tsx'

interface Props {
  preferences: OpenPreferences
  /** The name, such as `downloads.format`. */
  name: string
  more?: ComponentChildren
  /** Replaces the usual saving; resolves to false if the user has canceled. */
  onSave?: (value: unknown) => Promise<unknown>
}

/** The value of an empty field: `false` (not set), the minimum, or the default. */
const emptyOf = ({ anyOf, minimum, default: usual }: OptionSchema): unknown =>
  anyOf?.some(({ const: fixed }) => fixed === false) ? false : (minimum ?? usual)

export function Preference({ preferences, name, more, onSave }: Props) {
  const schema = preferenceSchema(name)
  const [section = '', key = ''] = name.split('.')
  const values = preferences.now.value.value as Record<string, Record<string, unknown>> | undefined
  const save = onSave ?? ((value: unknown) => preferences.save({ [section]: { [key]: value } }))
  const path = schema['x-try']
  return (
    <>
      <SchemaOption
        name={`preference.${name}`}
        field={name}
        schema={schema}
        value={values?.[section]?.[key]}
        more={more}
        onSave={(value) => save(value ?? emptyOf(schema))}
      />
      {path !== undefined && <TryIt path={path} of={textOf(`preference.${name}`, schema.title ?? name)} />}
    </>
  )
}

/** A button that tests a setting by a route of its plugin, which answers with a sentence. */
function TryIt({ path, of }: { path: string; of: string }) {
  const attempt = async () => {
    const { message } = await post<{ message?: string }>(path, {})
    say(message ? inWords(message) : t('settings.tried'))
  }
  return (
    <div class="option-foot">
      <Button icon={BellRing} of={of} onClick={attempt}>
        {t('settings.try')}
      </Button>
    </div>
  )
}

/** @param except  preferences that are shown elsewhere */
export const PreferenceGroup = ({
  preferences,
  group,
  except = [],
}: {
  preferences: OpenPreferences
  group: string
  except?: string[]
}) => (
  <>
    {(preferencesByGroup().get(group) ?? [])
      .filter((name) => !except.includes(name))
      .map((name) => (
        <Preference key={name} preferences={preferences} name={name} />
      ))}
  </>
)

/** Groups that a section shows, by section; others are shown with the plugins. */
const GROUPS_OF: Record<string, readonly string[]> = {
  downloads: ['quality', 'subtitles', 'comments', 'pace', 'afterwards', 'rules', 'route'],
  subscriptions: ['scan', 'found'],
  playback: ['watching'],
  cookie: ['cookie'],
  safety: ['whole', 'reading', 'sidecars', 'offsite', 'snapshots'],
  users: ['sign-ins', 'children'],
}
const REST = 'plugins'
export const sectionOfGroup = (group: string): string =>
  Object.keys(GROUPS_OF).find((section) => GROUPS_OF[section]?.includes(group)) ?? REST
export const furtherGroups = (): string[] =>
  [...preferencesByGroup().keys()].filter((group) => sectionOfGroup(group) === REST)
