/** Renders preferences as plugins declare them: one by its name, or a whole group. */
import type { ComponentChildren } from 'preact'
import { type OpenPreferences, preferenceSchema, preferencesByGroup } from './preferences.ts'
import { type OptionSchema, SchemaOption } from './schema-option.tsx'

interface Props {
  preferences: OpenPreferences
  /** `downloads.format` */
  name: string
  more?: ComponentChildren
  /** Replaces saving at once; resolves to false if somebody cancelled. */
  onSave?: (value: unknown) => Promise<unknown>
}

/** The meaning of an empty field: not set, or the minimum. */
const emptyOf = ({ anyOf, minimum, default: usual }: OptionSchema): unknown =>
  anyOf?.some(({ const: fixed }) => fixed === false) ? false : (minimum ?? usual)

export function Preference({ preferences, name, more, onSave }: Props) {
  const schema = preferenceSchema(name)
  const [section = '', key = ''] = name.split('.')
  const values = preferences.now.value.value as Record<string, Record<string, unknown>> | undefined
  const save = onSave ?? ((value: unknown) => preferences.save({ [section]: { [key]: value } }))
  return (
    <SchemaOption
      name={`preference.${name}`}
      field={name}
      schema={schema}
      value={values?.[section]?.[key]}
      more={more}
      onSave={(value) => save(value ?? emptyOf(schema))}
    />
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

/** Groups that a section shows; others are shown with the plugins. */
const AT_HOME = new Set([
  ...['quality', 'subtitles', 'comments', 'pace', 'afterwards', 'rules', 'route'],
  ...['scan', 'found', 'watching', 'cookie', 'snapshots', 'reading', 'sidecars', 'sign-ins'],
])
export const furtherGroups = (): string[] => [...preferencesByGroup().keys()].filter((group) => !AT_HOME.has(group))
