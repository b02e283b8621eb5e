"""Charts of the Evaluation page: tables in, Plotly figures out. Backgrounds and type follow the theme."""
