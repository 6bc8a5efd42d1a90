/** Preferences as the plugins declare them: one by its name, or all of a group. */
import type { ComponentChildren } from 'preact'
import { type OpenConfig, preferenceSchema, preferencesByGroup } from './config.ts'
import { type OptionSchema, SchemaOption } from './schema-option.tsx'

interface Props {
  config: OpenConfig
  /** `downloads.format` */
  name: string
  more?: ComponentChildren
  /** In place of saving it at once: false where somebody thought better of it. */
  onSave?: (value: unknown) => Promise<unknown>
}

/** What an emptied field means: not set, or else nothing of what is counted. */
const emptyOf = ({ anyOf, minimum, default: usual }: OptionSchema): unknown =>
  anyOf?.some(({ const: fixed }) => fixed === false) ? false : (minimum ?? usual)

export function Preference({ config, name, more, onSave }: Props) {
  const schema = preferenceSchema(name)
  const [section = '', key = ''] = name.split('.')
  const values = config.now.value.value as Record<string, Record<string, unknown>> | undefined
  const save = onSave ?? ((value: unknown) => config.save({ [section]: { [key]: value } }))
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

/** @param except  those that stand there by themselves */
export const Preferences = ({
  config,
  group,
  except = [],
}: {
  config: OpenConfig
  group: string
  except?: string[]
}) => (
  <>
    {(preferencesByGroup().get(group) ?? [])
      .filter((name) => !except.includes(name))
      .map((name) => (
        <Preference key={name} config={config} name={name} />
      ))}
  </>
)

/** Groups that have a place of their own; those of other plugins stand with the plugins. */
const AT_HOME = new Set([
  ...['quality', 'subtitles', 'comments', 'pace', 'afterwards', 'rules', 'route'],
  ...['scan', 'found', 'watching', 'cookie', 'snapshots', 'sign-ins'],
])
export const furtherGroups = (): string[] => [...preferencesByGroup().keys()].filter((group) => !AT_HOME.has(group))
