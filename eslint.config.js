import neostandard from 'neostandard'

const { plugin } = neostandard.plugins['typescript-eslint']

// tap's parent test waits for `t.test(…)` by itself.
const subtest = { from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' }

/** Properties and methods that turn text into markup. */
const MARKUP = [
  'innerHTML',
  'outerHTML',
  'insertAdjacentHTML',
  'srcdoc',
  'srcDoc',
  'dangerouslySetInnerHTML',
  'setHTMLUnsafe',
  'createContextualFragment'
]

/** One row for each error, however long: they are read, and made into docs/errors.md, as tables. */
const ERROR_TABLES = ['protocol/wire/errors.ts', 'protocol/wire/task-errors.ts', 'protocol/http/http-errors.ts']

export default [
  ...neostandard({
    ts: true,
    ignores: ['build/', 'dist/', 'node_modules/', '.bench/', '.conformance/', '.tap/']
  }),
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname }
    },
    plugins: { '@typescript-eslint': plugin },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafePromises: [subtest] }],
      '@typescript-eslint/no-misused-promises': 'error',
      'no-void': ['error', { allowAsStatement: true }],
      // A schema and its type share a name: `const X = Type.Object(…)`, `type X = Static<typeof X>`. The compiler
      // reports real clashes.
      'no-redeclare': 'off',
      '@typescript-eslint/no-redeclare': 'off'
    }
  },
  {
    // Lines end at column 120, where no text, URL or regular expression would have to be broken.
    files: ['**/*.{ts,tsx}'],
    ignores: ERROR_TABLES,
    rules: {
      'max-len': ['error', {
        code: 120,
        comments: 120,
        ignoreUrls: true,
        ignoreStrings: true,
        ignoreTemplateLiterals: true,
        ignoreRegExpLiterals: true
      }]
    }
  },
  {
    // stdout belongs to the stdio transport.
    files: ['**/*.{js,ts,tsx}'],
    ignores: ['test/**', 'bench/**'],
    rules: { 'no-console': 'error' }
  },
  {
    // The page shows text of servers that are not trusted: it becomes text nodes, never markup or code.
    files: ['console/**/*.{ts,tsx}'],
    rules: {
      'no-eval': 'error',
      'no-new-func': 'error',
      '@typescript-eslint/no-implied-eval': 'error',
      'no-script-url': 'error',
      'no-restricted-syntax': [
        'error',
        ...MARKUP.flatMap(forbid),
        {
          selector: "MemberExpression[object.name='document'][property.name=/^write/]",
          message: 'document.write makes markup of text.'
        }
      ]
    }
  }
]

function forbid (name) {
  const places = [
    `MemberExpression[property.name='${name}']`,
    `MemberExpression[property.value='${name}']`,
    `JSXAttribute[name.name='${name}']`,
    `Property[key.name='${name}']`,
    `Property[key.value='${name}']`
  ]
  return { selector: places.join(', '), message: `${name} makes markup or code of text.` }
}
