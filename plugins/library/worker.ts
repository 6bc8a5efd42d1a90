/** The library's reading child: walks its folders and the import folder, and looks at films and what lies beside them. */
import { answersOfFilms, serve } from '../film-kit/serve.ts'

serve(answersOfFilms())
